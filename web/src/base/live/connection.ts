// The one connection of this browser to the daemon's live events. By fetch and not by EventSource, because the token belongs in a header.
// Messages are given on together after a short while: a thousand events a second are a few redraws.

import { createSseReader } from "../../../../src/http/client/sse.ts";
import type { LiveChange, LiveState, ToPage } from "./protocol.ts";

export type Connection = { readonly state: () => LiveState; close(): void };

const TOGETHER_MS = 120;
const SILENT_MS = 40_000;
const AGAIN_MS = [500, 1000, 2000, 4000, 8000, 15_000];

export function openConnection(token: string, tell: (message: ToPage) => void): Connection {
  let state: LiveState = { is: "connecting" };
  let lastId = "";
  let failures = 0;
  let isClosed = false;
  let abort = new AbortController();
  let waiting: LiveChange[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  void follow();

  return {
    state: () => state,
    close() {
      isClosed = true;
      clearTimeout(timer);
      abort.abort();
    },
  };

  async function follow(): Promise<void> {
    while (!isClosed) {
      abort = new AbortController();
      const why = await read().catch(() => undefined);
      if (isClosed) return;
      if (why !== undefined) return show({ is: "refused", why });
      if (state.is !== "reconnecting") show({ is: "reconnecting", since: Date.now() });
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)]));
      failures += 1;
    }
  }

  /** Ends when the connection does; with words where coming back is of no use. */
  async function read(): Promise<string | undefined> {
    const response = await fetch("/api/events", {
      headers: { authorization: `Bearer ${token}`, ...(lastId === "" ? {} : { "last-event-id": lastId }) },
      signal: abort.signal,
    });
    if (response.status === 401 || response.status === 403) return "The session has ended.";
    if (response.status === 400) {
      lastId = "";
      tell({ type: "reset" });
      return undefined;
    }
    if (!response.ok || response.body === null) return undefined;
    const wasAway = state.is === "reconnecting" && lastId === "";
    failures = 0;
    show({ is: "live" });
    if (wasAway) tell({ type: "reset" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const sse = createSseReader(lastId);
    // A connection that says nothing, not even a ping, is gone: a laptop that slept does not hear of it otherwise.
    let silence = setTimeout(() => abort.abort(), SILENT_MS);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENT_MS);
        const messages = sse.read(value);
        lastId = sse.lastId();
        for (const message of messages) {
          if (message.name === "reset") tell({ type: "reset" });
          else take(message.name, message.data);
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }

  function take(name: string, data: string): void {
    const told = parse(data);
    if (told === undefined) return;
    waiting.push({ name, ...told });
    timer ??= setTimeout(() => {
      timer = undefined;
      tell({ type: "changes", changes: waiting });
      waiting = [];
    }, TOGETHER_MS);
  }

  function show(next: LiveState): void {
    state = next;
    tell({ type: "state", state });
  }
}

function parse(data: string): Pick<LiveChange, "runId" | "subjectId"> | undefined {
  try {
    const { runId = "", subjectId, storyId } = JSON.parse(data) as Record<string, string | undefined>;
    return { runId, subjectId: subjectId ?? storyId ?? "" };
  } catch {
    return undefined;
  }
}
