// This browser's one connection to the daemon's live events. It uses fetch instead of EventSource, because the token belongs in a header.
// Changes are passed on in batches: a thousand events a second cause only a few redraws.

import addresses from "virtual:passrail-addresses";
import { followMessages } from "../../../../src/http/client/follow.ts";
import { problemIn } from "../problem.ts";
import type { Growth, LiveChange, LiveState, ToPage, Used } from "./protocol.ts";
import { optional } from "../../../../src/core/optional.ts";

export type Connection = { readonly state: () => LiveState; close(): void };

const BATCH_MS = 120;
const SILENCE_MS = 40_000;
const LONGEST_PAUSE_MS = 15_000;

export function openConnection(token: string, tell: (message: ToPage) => void): Connection {
  const end = new AbortController();
  const batch = openBatch((changes) => tell({ type: "changes", changes }));
  let state: LiveState = { is: "connecting" };
  let hasHeard = false;
  void follow();

  return {
    state: () => state,
    close() {
      end.abort();
      batch.drop();
    },
  };

  async function follow(): Promise<void> {
    const source = { base: "", token, send: fetchBare, address: addresses.events, problemIn };
    const steps = followMessages(source, {
      signal: end.signal,
      silenceMs: SILENCE_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      onState: ({ type }) => (type === "open" ? opened() : lost()),
    });
    for await (const step of steps) {
      if (step.type === "refused") return refused(step.problem.status);
      hasHeard = true;
      if (step.message.name === "reset") tell({ type: "reset" });
      else batch.add(step.message.name, step.message.data);
    }
  }

  function opened(): void {
    // Before the first message there is no id to resume from: events since then may be missing.
    const mayHaveMissed = state.is === "reconnecting" && !hasHeard;
    show({ is: "live" });
    if (mayHaveMissed) tell({ type: "reset" });
  }

  function lost(): void {
    if (state.is !== "reconnecting") show({ is: "reconnecting", since: Date.now() });
  }

  function refused(status: number): void {
    if (end.signal.aborted) return;
    if (status !== 400) return show({ is: "refused", why: "The session has ended." });
    // The daemon does not know the last id any more: load everything again and follow from now on.
    hasHeard = false;
    tell({ type: "reset" });
    void follow();
  }

  function show(next: LiveState): void {
    state = next;
    tell({ type: "state", state });
  }
}

/** A browser's fetch refuses to be the method of another object. */
const fetchBare = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);

function openBatch(send: (changes: readonly LiveChange[]) => void) {
  let waiting: LiveChange[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    add(name: string, data: string): void {
      const told = parse(name, data);
      if (told === undefined) return;
      waiting.push(told);
      timer ??= setTimeout(() => {
        timer = undefined;
        const changes = waiting;
        waiting = [];
        send(changes);
      }, BATCH_MS);
    },
    drop(): void {
      clearTimeout(timer);
    },
  };
}

/** The fields of a message that this page reads; they depend on its name. */
type Told = { readonly runId?: string; readonly subjectId?: string; readonly storyId?: string } & Growth & Used;

function parse(name: string, data: string): LiveChange | undefined {
  try {
    const told = JSON.parse(data) as Told;
    const { runId = "", subjectId, storyId, stage, attempt, events, output, line, usage } = told;
    const ids = { name, runId, subjectId: subjectId ?? storyId ?? "" };
    if (name === "attempt.usage") return { ...ids, used: { stage, attempt, usage } };
    if (name !== "attempt.output") return ids;
    return { ...ids, growth: { stage, attempt, events, output, ...optional({ line }) } };
  } catch {
    return undefined;
  }
}
