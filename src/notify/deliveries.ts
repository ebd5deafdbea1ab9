// The log of deliveries and their outcomes. It is also the queue: the process that opens it next sends the pending ones. Bounded: ended
// deliveries make room first, then the oldest pending ones, which end as failed.

import { z } from "zod";
import { openJournal } from "../file/journal.ts";

const notice = z.object({
  runId: z.string(),
  to: z.string(),
  event: z.string(),
  text: z.string(),
  item: z.string().nullable(),
});

const state = z.discriminatedUnion("status", [
  z.object({ status: z.literal("pending"), dueAt: z.string() }),
  z.object({ status: z.literal("delivered"), at: z.string() }),
  z.object({ status: z.literal("failed"), at: z.string(), reason: z.string() }),
  /** Its item was answered before it was sent. */
  z.object({ status: z.literal("withdrawn"), at: z.string() }),
]);

const attempt = z.object({ at: z.string(), result: z.string() });

const delivery = z.object({
  id: z.string(),
  endpoint: z.string(),
  queuedAt: z.string(),
  notice,
  /** Tries of this round; a redelivery begins a new one. */
  tries: z.number().int().nonnegative(),
  /** The last ones, oldest first. */
  history: z.array(attempt),
  state,
});

const line = z.union([
  z.object({ delivery }),
  z.object({ id: z.string(), tries: z.number().int().nonnegative(), attempt: attempt.nullable(), state }),
  z.object({ endpoint: z.string(), target: z.string(), disabled: z.boolean() }),
]);

export type NoticeDelivery = Readonly<z.infer<typeof delivery>>;
type DeliveryState = NoticeDelivery["state"];
type Line = z.infer<typeof line>;
export type DeliveryChange = {
  readonly tries: number;
  readonly attempt: { readonly at: string; readonly result: string } | null;
  readonly state: DeliveryState;
};

export type Deliveries = {
  /** Oldest first. */
  list(): readonly NoticeDelivery[];
  find(id: string): NoticeDelivery | undefined;
  add(delivery: NoticeDelivery): void;
  change(id: string, change: DeliveryChange): void;
  /** `target` identifies the endpoint's URL: another URL under the same name is another receiver. */
  isDisabled(endpoint: string, target: string): boolean;
  setDisabled(endpoint: string, target: string, disabled: boolean): void;
  close(): void;
};

const MAX_ENDED = 300;
const MAX_PENDING = 500;
const MAX_HISTORY = 12;
const MAX_BYTES = 64 * 1024 * 1024;
/** A smaller file is not worth rewriting. */
const SLACK_BYTES = 256 * 1024;

/** Throws when the file is not a delivery log or the disk fails. Only one process may have it open. */
export function openDeliveries(path: string): Deliveries {
  const journal = openJournal(path, MAX_BYTES);
  const known = new Map<string, NoticeDelivery>();
  const disabled = new Map<string, string>();
  for (const text of journal.lines) {
    const read = readLine(text);
    if (read !== undefined) apply(read);
  }
  let sizeAfterRewrite = 0;
  tidy();

  return {
    list: () => [...known.values()],
    find: (id) => known.get(id),
    add(added) {
      write({ delivery: added });
      tidy(added.queuedAt);
    },
    change: (id, change) => {
      write({ id, ...change });
      tidy();
    },
    isDisabled: (endpoint, target) => disabled.get(endpoint) === target,
    setDisabled: (endpoint, target, isDisabled) => write({ endpoint, target, disabled: isDisabled }),
    close: () => journal.close(),
  };

  /** Memory changes only after the line is durable. */
  function write(next: Line): void {
    journal.append(JSON.stringify(next));
    apply(next);
  }

  function apply(next: Line): void {
    if ("delivery" in next) known.set(next.delivery.id, next.delivery);
    else if ("target" in next) {
      if (next.disabled) disabled.set(next.endpoint, next.target);
      else disabled.delete(next.endpoint);
    } else {
      const found = known.get(next.id);
      if (found === undefined) return;
      const history = next.attempt === null ? found.history : [...found.history, next.attempt].slice(-MAX_HISTORY);
      known.set(next.id, { ...found, tries: next.tries, history, state: next.state });
    }
  }

  function tidy(now?: string): void {
    const ended = [...known.values()].filter((each) => each.state.status !== "pending");
    const pending = [...known.values()].filter((each) => each.state.status === "pending");
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) known.delete(id);
    if (now !== undefined) {
      for (const { id, tries } of pending.slice(0, Math.max(0, pending.length - MAX_PENDING))) {
        write({ id, tries, attempt: null, state: { status: "failed", at: now, reason: "too many are waiting" } });
      }
    }
    if (journal.size() <= sizeAfterRewrite * 2 + SLACK_BYTES) return;
    const lines: Line[] = [
      ...[...disabled].map(([endpoint, target]) => ({ endpoint, target, disabled: true })),
      ...[...known.values()].map((each) => ({ delivery: each })),
    ];
    try {
      journal.rewrite(lines.map((each) => JSON.stringify(each)));
      sizeAfterRewrite = journal.size();
    } catch {
      // The old file is still complete; the next change tries again.
    }
  }
}

/** Undefined for a line that a crash or a full disk broke. */
function readLine(text: string): Line | undefined {
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
