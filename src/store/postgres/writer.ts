// Batches writes: jobs that arrive while the database is busy with one call share the next one. So one call at a time
// is in progress, a single handoff takes one round trip, and a hundred at once share a transaction. If the connection
// breaks, the outcome of the call is unknown; the writer makes it again, marked as a repeat, and the database answers
// with the outcome.

import { StoreError } from "../store.ts";
import { explainError, isLost } from "./errors.ts";
import type { Job } from "./jobs.ts";
import type { Pool } from "./pool.ts";
import { toJsonText } from "./text.ts";

export type Answer = Readonly<Record<string, unknown>>;

export type Fenced = {
  readonly incarnation: string;
  /** Of the process that performs; null for every other. */
  readonly epoch: number | null;
};

export type Writer = {
  readonly write: (job: Job) => Promise<Answer>;
  /** Resolves when everything that was asked for is answered. */
  readonly drained: () => Promise<void>;
};

type Asked = {
  readonly job: Job;
  readonly json: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

const MAX_JOBS = 256;
const MAX_BYTES = 16_000_000;
/** How long a lost connection is waited for. Who asked may ask again after that. */
const PATIENCE_MS = 20_000;
const RETRY_MS = 100;
const RETRY_MAX_MS = 2000;

/** `onSeq`: the numbers of the last event before and after a call. */
export function openWriter(pool: Pool, fence: Fenced, onSeq: (before: number, after: number) => void): Writer {
  let waiting: Asked[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // Jobs of the same turn share the call.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = nextBatch();
      try {
        const answers = await call(batch);
        for (const [index, { resolve, reject }] of batch.entries()) settle(answers[index], resolve, reject);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    working = undefined;
  }

  function nextBatch(): readonly Asked[] {
    let bytes = 0;
    const cut = waiting.findIndex(
      ({ json }, index) => index > 0 && (index === MAX_JOBS || (bytes += json.length) > MAX_BYTES),
    );
    const batch = waiting.slice(0, cut === -1 ? waiting.length : cut);
    waiting = waiting.slice(batch.length);
    return batch;
  }

  async function call(batch: readonly Asked[]): Promise<readonly Answer[]> {
    const until = performance.now() + PATIENCE_MS;
    for (let wait = RETRY_MS, isAgain = false; ; wait = Math.min(wait * 2, RETRY_MAX_MS)) {
      try {
        return await callOnce(batch, isAgain);
      } catch (error) {
        if (!isLost(error) || performance.now() + wait > until) throw explainError(error, pool.shown);
        isAgain = true;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  async function callOnce(batch: readonly Asked[], isAgain: boolean): Promise<readonly Answer[]> {
    const jobs = batch.map(({ job, json }) =>
      isAgain && job.type === "commit" ? `${json.slice(0, -1)},"again":true}` : json,
    );
    const [row] = await pool.once(
      "SELECT passrail.write($1, $2, $3) AS done",
      `[${jobs.join(",")}]`,
      fence.incarnation,
      fence.epoch,
    );
    const done = row?.["done"] as Done;
    if ("fenced" in done) throw fencedBy(done.fenced, pool.shown);
    onSeq(done.before, done.after);
    return done.answers;
  }

  return {
    write: (job) =>
      new Promise((resolve, reject) => {
        waiting.push({ job, json: toJsonText(job), resolve, reject });
        working ??= work();
      }),
    async drained() {
      await working;
    },
  };
}

type Done =
  | { readonly fenced: string }
  | { readonly before: number; readonly after: number; readonly answers: readonly Answer[] };

function settle(answer: Answer | undefined, resolve: Asked["resolve"], reject: Asked["reject"]): void {
  if (answer === undefined) reject(new Error("the database gave no answer"));
  else if (typeof answer["error"] === "string") reject(new Error(`${answer["error"]} (${String(answer["code"])})`));
  else resolve(answer);
}

export function fencedBy(what: string, shown: string): StoreError {
  const why = what === "owner" ? `another process has taken over ${shown}` : `the content of ${shown} was replaced`;
  return new StoreError(
    "store_fenced",
    `This process may not write any more: ${why}.`,
    "passrail status   shows the process that performs now; start this one again if there is none",
  );
}
