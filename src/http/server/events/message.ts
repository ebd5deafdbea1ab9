// Encodes stored events for the wire. An event is encoded once and all its receivers share the bytes. The store provides the facts that an
// event lacks: the ticket of its run, and the public number of a handoff.

import type { Usage } from "../../../core/budget/usage.ts";
import type { RunEvent } from "../../../core/run/event.ts";
import type { AgentLine } from "../../../core/view/live-line.ts";
import type { Store, StoredEvent } from "../../../store/store.ts";
import { formatPosition, type StreamPosition } from "./position.ts";

/** The data of every message except `handoff` and `reset`. */
export type EventData = {
  readonly seq: number;
  readonly runId: string;
  readonly subjectId: string;
  /** Number of events that the run has with this one. */
  readonly version: number;
  readonly event: RunEvent;
};

/** The data of the `handoff` message, in the words of source 003. */
export type HandoffData = {
  readonly storyId: string;
  readonly handoffId: number;
  readonly status: "pending" | "accepted" | "rejected";
};

/**
 * The data of the `reset` message: missed events cannot be replayed. The client loads the state again; the stream continues after `seq`.
 */
export type ResetData = { readonly reason: "too_old" | "unknown"; readonly seq: number };

export type StreamMessage = StreamPosition & {
  readonly name: string;
  readonly runId: string;
  readonly subjectId: string;
  readonly bytes: Uint8Array;
};

/** A message that is not stored: its subject has changed, and clients that show it reload. It has no id, so that no position moves. */
export type Hint = Pick<StreamMessage, "name" | "runId" | "subjectId" | "bytes"> & {
  /** Of hints with the same key, a client that is busy gets only the last. */
  readonly key: string;
};

/** Empty `subjectId`: many tickets, or unknown ones. */
export function ticketHint(subjectId: string): Hint {
  const name = "ticket.changed";
  return { name, key: `${name} ${subjectId}`, runId: "", subjectId, bytes: hintBytes(name, { subjectId }) };
}

/** The files of a working attempt have grown to these sizes, in bytes; null if there is no such file. */
export type AttemptGrowth = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly events: number | null;
  readonly output: number | null;
  /** The last words or act of the agent; only while a page lists working attempts. */
  readonly line?: AgentLine | null;
};

export function growthHint(growth: AttemptGrowth): Hint {
  const name = "attempt.output";
  const { runId, stage, attempt } = growth;
  return { name, key: `${name} ${runId} ${stage} ${attempt}`, runId, subjectId: "", bytes: hintBytes(name, growth) };
}

function hintBytes(name: string, data: object): Uint8Array {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The data of the `attempt.usage` message: the usage of a working attempt so far. Null is unknown, never 0. */
export type UsageData = {
  readonly runId: string;
  readonly subjectId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly usage: Usage;
};

export function usageHint(data: UsageData): Hint {
  const name = "attempt.usage";
  const { runId, subjectId, stage, attempt } = data;
  return { name, key: `${name} ${runId} ${stage} ${attempt}`, runId, subjectId, bytes: hintBytes(name, data) };
}

export type Describe = (events: readonly StoredEvent[]) => Promise<readonly StreamMessage[]>;

/** Cached entries; beyond that the store is read again. */
const KNOWN_AT_MOST = 5000;

export function createDescribe(store: Pick<Store, "loadRun" | "handoffs">): Describe {
  const subjects = new Map<string, string>();
  const handoffIds = new Map<string, number>();

  return async (events) => {
    const messages: StreamMessage[] = [];
    for (const stored of events) {
      const subjectId = subjects.get(stored.runId) ?? (await subjectOf(stored));
      const { seq, runId, version, event } = stored;
      const about = { seq, runId, subjectId };
      const handoffId = isAboutHandoff(event) ? await handoffIdOf(runId, event.number) : undefined;
      // The extra message comes first: a client that has seen the event's own id has seen both.
      if (isAboutHandoff(event) && handoffId !== undefined) {
        const data: HandoffData = { storyId: subjectId, handoffId, status: HANDOFF_WORDS[event.type] };
        messages.push({ ...about, half: true, name: "handoff", bytes: encode({ seq, half: true }, "handoff", data) });
      }
      const data: EventData = { ...about, version, event };
      messages.push({ ...about, half: false, name: event.type, bytes: encode({ seq, half: false }, event.type, data) });
    }
    return messages;
  };

  async function subjectOf({ runId, event }: StoredEvent): Promise<string> {
    const subject = event.type === "run.created" ? event.subject : (await store.loadRun(runId))?.run.subject;
    const subjectId = subject?.id ?? "";
    remember(subjects, runId, subjectId);
    return subjectId;
  }

  /** Undefined for a handoff that was deleted. */
  async function handoffIdOf(runId: string, number: number): Promise<number | undefined> {
    const key = `${runId} ${number}`;
    if (!handoffIds.has(key)) {
      for (const row of await store.handoffs(runId)) remember(handoffIds, `${runId} ${row.number}`, row.id);
    }
    return handoffIds.get(key);
  }
}

export function encode(position: StreamPosition, name: string, data: EventData | HandoffData | ResetData): Uint8Array {
  return Buffer.from(`id: ${formatPosition(position)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

export type Join = (messages: readonly StreamMessage[]) => Uint8Array;

/** Many clients take the same messages one after the other: they get the same bytes, not copies. */
export function createJoin(): Join {
  let joined: readonly StreamMessage[] = [];
  let bytes: Uint8Array = Buffer.alloc(0);
  return (messages) => {
    const isSame = messages.length === joined.length && messages.every((message, index) => message === joined[index]);
    if (!isSame) {
      joined = messages;
      bytes = Buffer.concat(messages.map((message) => message.bytes));
    }
    return bytes;
  };
}

type HandoffEvent = Extract<RunEvent, { readonly type: `handoff.${string}` }>;

/** Three public words for the states of a handoff. */
const HANDOFF_WORDS: Readonly<Record<HandoffEvent["type"], HandoffData["status"]>> = {
  "handoff.created": "pending",
  "handoff.accepted": "accepted",
  "handoff.rejected": "rejected",
  "handoff.withdrawn": "rejected",
  "handoff.expired": "rejected",
};

function isAboutHandoff(event: RunEvent): event is HandoffEvent {
  return Object.hasOwn(HANDOFF_WORDS, event.type);
}

function remember<T>(known: Map<string, T>, key: string, value: T): void {
  if (known.size >= KNOWN_AT_MOST && !known.has(key)) known.clear();
  known.set(key, value);
}
