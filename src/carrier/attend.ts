// An engine attends a carrier: it stores its facts, answers its questions, passes commands on, and takes its report from the disk. The
// connection may break; the report and the process decide how the attempt ended.

import { setTimeout as delay } from "node:timers/promises";
import type { CarriedEnd, CarriedPorts, CarrierIdentity } from "../attempt/carriers.ts";
import type { Report } from "../core/flow/outcome.ts";
import { messageOf } from "../core/result.ts";
import { isAlive } from "../runner/process/process-table.ts";
import type { CarrierConnection } from "./connect.ts";
import type { ReportFile } from "./report-file.ts";
import type { ToCarrier, ToEngine, CarrierWire } from "./wire.ts";

export type Attended = {
  readonly identity: CarrierIdentity;
  readonly readReport: () => ReportFile | undefined;
  /** A connection to the same carrier; undefined if it does not answer. */
  readonly reconnect: () => Promise<CarrierConnection | undefined>;
  /** Ends its process and everything that it started. */
  readonly kill: () => Promise<void>;
  readonly onError: (error: unknown) => void;
};

const LOOK_MS = 200;
/** For a carrier that was told to stop, or that cannot be told: longer than an agent and its workspace take to end. */
const ABORT_MS = 60_000;

export async function attend(
  attended: Attended,
  ports: CarriedPorts,
  first: CarrierConnection | undefined,
): Promise<CarriedEnd> {
  const left = Promise.withResolvers<"left">();
  ports.offerLeave(() => left.resolve("left"));
  const overdue = killIfOverdue(attended, ports.signal);
  try {
    return await untilKnown(attended, ports, first, left.promise);
  } finally {
    overdue.clear();
  }
}

async function untilKnown(
  attended: Attended,
  ports: CarriedPorts,
  first: CarrierConnection | undefined,
  left: Promise<"left">,
): Promise<CarriedEnd> {
  let connection = first;
  for (;;) {
    const how = connection === undefined ? undefined : await Promise.race([speak(connection, ports, attended), left]);
    if (how === "left" || how === "replaced") {
      connection?.wire.destroy();
      return { type: "left" };
    }
    const ended = await untilEnded(attended, connection === undefined ? Infinity : LOOK_MS, left);
    if (ended === "left") return { type: "left" };
    if (ended !== undefined) return finish(ended, ports);
    connection = await attended.reconnect();
  }
}

/** A carrier that hangs, or that this version cannot speak to, must not outlive the wish to end it. */
function killIfOverdue({ kill, onError }: Attended, signal: AbortSignal): { readonly clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => void (timer = setTimeout(() => void kill().catch(onError), ABORT_MS));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    clear() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** A person answers: nothing else waits for it. */
const ASKS_PEOPLE: ReadonlySet<string> = new Set(["permission", "question"]);

/** Until the connection ends, for whatever reason. */
function speak(
  connection: CarrierConnection,
  ports: CarriedPorts,
  { onError }: Attended,
): Promise<"closed" | "replaced"> {
  const { wire } = connection;
  const checks = new Map<number, (report: Report) => void>();
  let last = 0;
  const check = (report: Report): Promise<Report> =>
    new Promise((resolve) => {
      last += 1;
      checks.set(last, resolve);
      wire.send({ type: "check", n: last, report });
    });
  const onAbort = (): void => wire.send({ type: "abort", reason: String(ports.signal.reason) });
  if (ports.signal.aborted) onAbort();
  else ports.signal.addEventListener("abort", onAbort, { once: true });
  // One that was adopted has the room of its dead engine.
  wire.send({ type: "room", room: ports.room() });
  ports.watchRoom((room) => wire.send({ type: "room", room }));
  ports.watchLease?.(() => wire.send({ type: "lease" }));
  const passOn = (): void => {
    for (const message of ports.messages.waiting()) wire.send({ type: "message", message });
  };
  const stopListening = ports.messages.listen(passOn);
  passOn();
  // In the order in which they came: a later fact may replace an earlier one.
  let turn = Promise.resolve();
  return new Promise((resolve) => {
    connection.listen({
      message(message) {
        if (message.type === "replaced") resolve("replaced");
        else if (message.type === "checked") {
          checks.get(message.n)?.(message.report);
          checks.delete(message.n);
        } else if (message.type === "check-offered") ports.offerCheck(check);
        else if (message.type === "spent") ports.spent(message.reported);
        else if (message.type === "observed") ports.observed?.(message.event);
        else if (message.type === "ask" && ASKS_PEOPLE.has(message.question.about))
          void serve(message, wire, ports).catch(onError);
        else turn = turn.then(() => serve(message, wire, ports)).catch(onError);
      },
      closed() {
        stopListening();
        ports.signal.removeEventListener("abort", onAbort);
        const lost = { cause: "engine_error", reason: "the attempt's process ended before its work was checked" };
        for (const settle of checks.values()) settle(lost);
        void turn.then(() => resolve("closed"));
      },
    });
  });
}

/** Whatever needs the store. */
async function serve(message: ToEngine, wire: CarrierWire<ToCarrier>, ports: CarriedPorts): Promise<void> {
  if (message.type === "save-check") return ports.checkCache.save(message.check);
  if (message.type !== "note" && message.type !== "ask" && message.type !== "heard") return;
  const { n } = message;
  try {
    const value = await storedOrAnswered(message, ports);
    wire.send({ type: "answer", n, value: value ?? null });
  } catch (error) {
    wire.send({ type: "answer", n, value: null, error: messageOf(error) });
  }
}

function storedOrAnswered(
  message: Extract<ToEngine, { type: "note" | "ask" | "heard" }>,
  ports: CarriedPorts,
): Promise<unknown> {
  if (message.type === "note") return ports.note(message.facts);
  return message.type === "heard" ? ports.messages.heard(message.number, message.way) : answerTo(message, ports);
}

async function answerTo({ question }: Extract<ToEngine, { type: "ask" }>, ports: CarriedPorts): Promise<unknown> {
  switch (question.about) {
    case "settled":
      return ports.isSettled();
    case "cached-check":
      return ports.checkCache.find(question.key, question.now);
    case "permission":
      return ports.askPermission(question.question);
    case "permission-expired":
      return ports.expirePermission(question.request);
    case "question":
      return ports.askQuestion(question.question);
    case "question-expired":
      return ports.expireQuestion(question.request);
    case "unknown":
      throw new Error("the engine is of an earlier version and does not know this question");
  }
}

/** Undefined where it still works after this time. */
async function untilEnded(
  { identity, readReport }: Attended,
  patienceMs: number,
  left: Promise<"left">,
): Promise<ReportFile | "gone" | "left" | undefined> {
  const until = performance.now() + patienceMs;
  for (;;) {
    // Looked at before the report: one that is alive may write it a moment later.
    const isGone = !isAlive(identity);
    const report = readReport();
    if (report !== undefined) return report;
    if (isGone) return "gone";
    if (performance.now() > until) return undefined;
    const pauseMs = patienceMs === Infinity ? LOOK_MS : LOOK_MS / 10;
    if ((await Promise.race([delay(pauseMs), left])) === "left") return "left";
  }
}

async function finish(ended: ReportFile | "gone", ports: CarriedPorts): Promise<CarriedEnd> {
  if (ended === "gone") return { type: "lost", why: "the process of this attempt ended without a report" };
  const { report, aborted, notes, heard, spent, strays } = ended;
  for (const facts of notes) await ports.note(facts);
  for (const { number, way } of heard) await ports.messages.heard(number, way);
  if (spent !== null) ports.spent(spent);
  // Ended by the system: the stage is repeated. Ended by this engine: nobody reads the report but for its usage.
  if (aborted !== null && !ports.signal.aborted) return { type: "lost", why: aborted };
  return { type: "reported", report, strays };
}
