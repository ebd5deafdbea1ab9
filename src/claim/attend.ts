// The node attends a claim: it stores what the worker states, answers its questions, passes commands on, and takes its report when the
// commits that belong to it are here. The report is on disk before the worker is told that it may forget it.

import type { CarriedEnd, CarriedPorts, ClaimIdentity, CarriedPlace } from "../attempt/carriers.ts";
import { attemptFiles } from "../attempt/attempt-files.ts";
import { writeReport } from "../carrier/report-file.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import { messageOf, type Result } from "../core/result.ts";
import type { FromWorker, WorkerQuestion } from "../core/worker/wire.ts";
import type { WorkClaim } from "./claim.ts";
import { statedFacts } from "./facts.ts";
import { openIncoming } from "./incoming.ts";
import { openRecordFiles } from "./record.ts";

export type AttendedClaim = {
  readonly home: string;
  readonly incarnation: () => string;
  readonly identity: ClaimIdentity;
  readonly place: CarriedPlace;
  readonly claim: WorkClaim;
  /** Brings the commits of the attempt to the run's branch. Returns facts to store. */
  readonly settle: (landed: ReportedWork) => Promise<Result<JsonObject>>;
  /** Copies what the attempt left for other nodes, before its worker may forget it. */
  readonly keep: () => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export type ReportedWork = {
  readonly incoming: ReturnType<typeof openIncoming>;
  readonly tip: string | null;
  readonly work: string | null;
};

/** For a worker that was told to end an attempt, and does not report its end. */
const ABORT_MS = 60_000;

export async function attendClaim(attended: AttendedClaim, ports: CarriedPorts): Promise<CarriedEnd> {
  const { claim, onError } = attended;
  const left = Promise.withResolvers<CarriedEnd>();
  const reported = Promise.withResolvers<CarriedEnd>();
  ports.offerLeave(() => {
    // Its worker works on, and says to the next node what this one does not take any more.
    claim.serve(undefined);
    left.resolve({ type: "left" });
  });
  const checks = new Map<number, (report: Report) => void>();
  const serving = serveOf(attended, ports, checks, reported.resolve);
  const onAbort = (): void => {
    claim.send({ type: "abort", reason: String(ports.signal.reason) });
    setTimeout(() => claim.end({ type: "lost", why: "its worker did not end it in time" }), ABORT_MS).unref();
  };
  if (ports.signal.aborted) onAbort();
  else ports.signal.addEventListener("abort", onAbort, { once: true });
  ports.watchRoom((room) => claim.send({ type: "room", room }));
  const passOn = (): void => {
    for (const message of ports.messages.waiting()) claim.send({ type: "message", message });
  };
  const stopListening = ports.messages.listen(passOn);
  passOn();
  claim.serve(async (message) => {
    try {
      await serving(message);
    } catch (error) {
      onError(error);
      // A report that could not be stored is sent again; anything else must not hold up what follows.
      if (message.type === "report") throw error;
    }
  });
  const lost = claim.ended.then((end): CarriedEnd | Promise<CarriedEnd> =>
    end.type === "lost" ? { type: "lost", why: end.why } : reported.promise,
  );
  try {
    return await Promise.race([left.promise, reported.promise, lost]);
  } finally {
    stopListening();
    ports.signal.removeEventListener("abort", onAbort);
    const gone = { cause: "engine_error", reason: "the attempt ended before its work was checked" };
    for (const resolve of checks.values()) resolve(gone);
  }
}

function serveOf(
  attended: AttendedClaim,
  ports: CarriedPorts,
  checks: Map<number, (report: Report) => void>,
  done: (end: CarriedEnd) => void,
): (message: FromWorker) => Promise<void> {
  const { claim, home, place, onError } = attended;
  const files = openRecordFiles(home, attemptFiles(home, place.runId, place.stage, place.attempt).dir);
  const incoming = openIncoming(home, claim.id);
  let asked = 0;
  const check = (report: Report): Promise<Report> =>
    new Promise((resolve) => {
      asked += 1;
      checks.set(asked, resolve);
      claim.send({ type: "check", check: asked, report });
    });
  return async (message) => {
    switch (message.type) {
      case "note": {
        const facts = statedFacts(message.facts);
        return facts === null ? undefined : ports.note(facts);
      }
      case "heard":
        return ports.messages.heard(message.number, message.way);
      case "ask": {
        const answered = answer(claim, message.ask, () => answerTo(message.question, ports));
        // A person answers: nothing else waits for it.
        if (message.question.about !== "permission" && message.question.about !== "question") return answered;
        return void answered.catch(onError);
      }
      case "check-offered":
        return ports.offerCheck(check);
      case "checked":
        checks.get(message.check)?.(message.report);
        return void checks.delete(message.check);
      case "spent":
        return ports.spent(message.reported);
      case "observed":
        return ports.observed?.(message.event);
      case "file": {
        const size = files.write({ ...message, data: Buffer.from(message.data, "base64") });
        if (size !== null) claim.send({ type: "resend", name: message.name, size });
        return;
      }
      case "commits":
        return incoming.write(message.offset, Buffer.from(message.data, "base64"));
      case "report":
        return done({ type: "reported", report: await reportOf(attended, ports, message, incoming), strays: [] });
      case "gave-up":
        incoming.remove();
        return claim.end({ type: "lost", why: `worker ${claim.worker}: ${message.why}` });
    }
  };
}

/** The report with the commits that belong to it: durable before anybody hears of it. */
async function reportOf(
  attended: AttendedClaim,
  ports: CarriedPorts,
  message: Extract<FromWorker, { type: "report" }>,
  incoming: ReportedWork["incoming"],
): Promise<Report> {
  const { home, incarnation, place, claim, settle } = attended;
  const { report: said, tip, work, problem } = message;
  const settled = await settle({ incoming, tip, work });
  if (settled.ok) await ports.note(settled.value);
  const why = problem ?? (settled.ok ? null : settled.error.message);
  const report = why === null ? said : withoutWork(said, why);
  const file = { report, aborted: null, notes: [], heard: [], spent: null, strays: [] };
  const { dir } = attemptFiles(home, place.runId, place.stage, place.attempt);
  writeReport(home, dir, { id: claim.id, incarnation: incarnation(), ...file });
  await attended.keep();
  incoming.remove();
  return report;
}

/** A verdict about work that is not here is worth nothing. */
function withoutWork(report: Report, why: string): Report {
  return {
    ...report,
    cause: report.cause ?? "commits_refused",
    reason: report.reason ?? why,
    warnings: [...(report.warnings ?? []), why],
  };
}

async function answer(claim: WorkClaim, ask: number, find: () => Promise<unknown>): Promise<void> {
  try {
    claim.send({ type: "answer", ask, value: (await find()) ?? null });
  } catch (error) {
    claim.send({ type: "answer", ask, value: null, error: messageOf(error) });
  }
}

async function answerTo(question: WorkerQuestion, ports: CarriedPorts): Promise<unknown> {
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
  }
}
