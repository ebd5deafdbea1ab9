// Reads that go through much of the store, in a thread with a connection of its own: the engine decides and commits meanwhile. The thread
// starts with the first such read and ends when none has come for a while. Where it cannot start, because the installation was replaced while
// this process runs, such reads happen here.

import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { StoreError } from "../store.ts";
import type { Reads } from "./read.ts";

/** What may go through every run; each takes one query. */
export type AsideReads = Pick<Reads, "flowStats" | "insights" | "listRuns" | "spending">;

export type AsideQuestion = { readonly id: number; readonly ask: keyof AsideReads; readonly query: unknown };
export type AsideAnswer = {
  readonly id: number;
  readonly found?: unknown;
  readonly failed?: { readonly code?: StoreError["code"]; readonly message: string; readonly hint?: string };
};

export type Aside = {
  readonly ask: <K extends keyof AsideReads>(name: K, query: Parameters<Reads[K]>[0]) => Promise<ReturnType<Reads[K]>>;
  readonly close: () => void;
};

const THREAD = fileURLToPath(new URL(`./reading-thread${extname(import.meta.url)}`, import.meta.url));
/** A dashboard that is open asks each minute. */
const IDLE_MS = 90_000;

type Waiting = {
  readonly resolve: (found: never) => void;
  readonly reject: (error: unknown) => void;
  readonly askHere: () => void;
};

export function openAside(file: string, here: Aside["ask"], program: string = THREAD): Aside {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let isUnfit = false;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;

  function start(): Worker {
    // It needs no variable of ours, and so it has no secret.
    const started = new Worker(program, { workerData: file, env: {}, execArgv: [] });
    started.on("message", ({ id, found, failed }: AsideAnswer) => {
      if (thread !== started) return;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (waiting.size === 0) rest(started);
      if (failed === undefined) asked?.resolve(found as never);
      else asked?.reject(errorOf(failed));
    });
    started.on("error", () => {
      isUnfit = true;
      for (const { askHere } of waiting.values()) askHere();
      waiting.clear();
    });
    started.on("exit", () => {
      if (thread !== started) return;
      thread = undefined;
      refuseAll();
    });
    return started;
  }

  function refuseAll(): void {
    for (const { reject } of waiting.values()) reject(ENDED);
    waiting.clear();
  }

  /** A thread that nobody asks keeps no process alive, and goes after a while. */
  function rest(started: Worker): void {
    started.unref();
    idle = setTimeout(end, IDLE_MS).unref();
  }

  function end(): void {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    refuseAll();
    void ended?.terminate();
  }

  return {
    ask(ask, query) {
      if (isUnfit) return here(ask, query);
      clearTimeout(idle);
      thread ??= start();
      thread.ref();
      last += 1;
      const id = last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, askHere: () => void here(ask, query).then(resolve, reject) });
        thread?.postMessage({ id, ask, query } satisfies AsideQuestion);
      });
    },
    close() {
      // What is asked from now on is refused where the store is closed.
      isUnfit = true;
      end();
    },
  };
}

const ENDED = new StoreError("store_closed", "The store was closed while it was read.", "Open the store again.");

function errorOf({ code, message, hint = "" }: NonNullable<AsideAnswer["failed"]>): Error {
  return code === undefined ? new Error(message) : new StoreError(code, message, hint);
}

export function answerOf<K extends keyof AsideReads>(
  reads: AsideReads,
  name: K,
  query: Parameters<Reads[K]>[0],
): ReturnType<Reads[K]> {
  const answer = reads[name] as (query: Parameters<Reads[K]>[0]) => ReturnType<Reads[K]>;
  return answer(query);
}
