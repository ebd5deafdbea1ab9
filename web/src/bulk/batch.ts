// Acts on many things that a person confirmed, and the result of each. Until its time has passed a batch can be undone,
// as every act can (`settle/held.ts`). Each act has its own key, so that one that is sent again after a lost answer
// counts once. Nothing is kept to be sent later: without a connection each act says so.

import { useSyncExternalStore } from "react";
import { queryClient } from "../base/queries.ts";
import { undoSeconds } from "../base/undo-time.ts";
import { hold } from "../settle/held.ts";
import { type BulkDeed, perform } from "./deed.ts";

export type BatchAct = {
  readonly title: string;
  readonly name: string;
  readonly deed: BulkDeed;
  /** By which the daemon recognises it. */
  readonly key: string;
  readonly result: ActResult;
};

export type ActResult =
  | { readonly is: "waiting" }
  | { readonly is: "done"; readonly text: string }
  | { readonly is: "failed"; readonly text: string };

export type Batch = {
  /** "Pause 3 runs". */
  readonly title: string;
  readonly text: string;
  readonly acts: readonly BatchAct[];
  readonly phase: "sending" | "sent";
};

/** The daemon does each in a few milliseconds; more at once would only queue there. */
const AT_ONCE = 4;

let batch: Batch | null = null;
const watchers = new Set<() => void>();

type NewAct = Pick<BatchAct, "title" | "name" | "deed">;

export function holdBatch(title: string, text: string, acts: readonly NewAct[]): void {
  const fresh = acts.map((act) => ({ ...act, key: crypto.randomUUID(), result: { is: "waiting" } as const }));
  const started: Batch = { title, text, acts: fresh, phase: "sending" };
  const ms = undoSeconds() * 1000;
  const id = `batch ${fresh[0]?.key ?? ""}`;
  // A person who closes the page has decided: the browser sends it without the page.
  const later = { id, title: "", done: title, place: { is: "many" } } as const;
  if (ms === 0) void send(started, false);
  else hold({ ...later, send: (isLeaving) => void send(started, isLeaving) }, ms);
}

/** The failed ones once more, each with the key that it had. */
export function sendFailed(): void {
  if (batch?.phase !== "sent") return;
  const acts = batch.acts.map((act) =>
    act.result.is === "failed" ? { ...act, result: { is: "waiting" } as const } : act,
  );
  void send({ ...batch, acts, phase: "sending" }, false);
}

export function closeBatch(): void {
  if (batch?.phase === "sent") set(null);
}

export function useBatch(): Batch | null {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => batch,
  );
}

async function send(started: Batch, isLeaving: boolean): Promise<void> {
  set(started);
  const left = started.acts.filter(({ result }) => result.is === "waiting");
  const workers = Array.from({ length: isLeaving ? left.length : AT_ONCE }, async () => {
    for (let act = left.shift(); act !== undefined; act = left.shift()) {
      const result = await tried(act, started.text, isLeaving);
      record(started, act.key, result);
    }
  });
  await Promise.all(workers);
  if (batch !== null && isSame(batch, started)) set({ ...batch, phase: "sent" });
  void queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => TOUCHED.has(kind) });
}

const TOUCHED: ReadonlySet<unknown> = new Set(["inbox", "now", "run", "runs", "acts", "ticket", "tickets"]);

async function tried({ deed, key }: BatchAct, text: string, keepalive: boolean): Promise<ActResult> {
  try {
    return { is: "done", text: await perform(deed, text, { idempotencyKey: key, keepalive }) };
  } catch (error) {
    return { is: "failed", text: error instanceof Error ? error.message : "Something went wrong." };
  }
}

function record(started: Batch, key: string, result: ActResult): void {
  if (batch === null || !isSame(batch, started)) return;
  set({ ...batch, acts: batch.acts.map((act) => (act.key === key ? { ...act, result } : act)) });
}

/** A newer batch may be shown by now. */
function isSame(one: Batch, other: Batch): boolean {
  return one.acts[0]?.key === other.acts[0]?.key;
}

function set(next: Batch | null): void {
  batch = next;
  for (const watcher of watchers) watcher();
}
