// Carries out what a delivery asks for: an answer at a gate, a wish shown to whoever may answer, a run for a ticket. The rights are the
// source's; the signal's id is the delivery's, so the same delivery changes a run once, also after a crash.

import { createHash } from "node:crypto";
import type { Refusal } from "../contract/problem.ts";
import type { Actor } from "../../core/run/event.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type InboxItem, isEnded, openItems, type Run, type Subject } from "../../core/run/run.ts";
import { refuseAnswer, takenAnswer } from "../server/answers.ts";
import { allEvents } from "../server/find-run.ts";
import type { ServerParts } from "../server/parts.ts";
import type { Turns } from "../server/turns.ts";
import type { GateWord, Intent, TicketWord } from "./mapping.ts";
import { LAST_GATES } from "./rules.ts";
import type { WebhookSource } from "./source.ts";

export type CarryOutParts = Pick<
  ServerParts,
  "store" | "engine" | "flows" | "prepare" | "commitOf" | "lookAtMerges" | "now"
> & {
  /** Tells whoever answers for the run of a wish that the source may not carry out itself. */
  readonly tell: (wish: Wish) => Promise<unknown>;
  readonly turns: Turns;
};

export type Wish = {
  readonly runId: string;
  readonly to: string;
  readonly event: "request";
  readonly text: string;
  readonly item: string;
};

export type Order = {
  readonly source: WebhookSource;
  readonly intent: Exclude<Intent, { type: "ignored" }>;
  readonly signalId: string;
};

/** 202: it was taken. 200: it had been, nothing changed. */
export type CarriedOut = {
  readonly status: 200 | 202;
  readonly code: "accepted" | "requested" | "already_done" | "ignored_event";
  readonly detail: string;
  readonly run?: { readonly id: string; readonly status: Run["status"]; readonly word: string };
};

export function carryOut(parts: CarryOutParts, order: Order): Promise<Result<CarriedOut, Refusal>> {
  const { intent } = order;
  if (intent.type === "create-ticket") return startRun(parts, order, intent);
  return parts.turns(intent.subjectId, () => answerGate(parts, order, intent));
}

/** In the record: nobody of ours, but a person outside whom the operator lets speak through this source. */
function actorOf({ name }: WebhookSource): Actor {
  return `human:webhook:${name}`;
}

async function answerGate(
  parts: CarryOutParts,
  { source, signalId }: Order,
  intent: GateWord & { readonly type: "answer-gate" | "request-gate" },
): Promise<Result<CarriedOut, Refusal>> {
  const run = await findSubject(parts, intent.subjectId);
  if (run === undefined)
    return err({
      code: "feature_not_found",
      detail: `Nothing with the id ${intent.subjectId} is known.`,
      hint: "A ticket is known from the start of its first run.",
    });
  if (await parts.store.hasSignal(run.id, signalId)) return ok(done("already_done", "this delivery was taken", run));
  const gate = gateOf(run, intent);
  if (!gate.ok && parts.lookAtMerges !== undefined && waitsOutside(run, intent)) {
    // What the sender says of a merge is no proof: the forge itself is asked, and only what it shows counts.
    parts.lookAtMerges();
    return ok(done("accepted", "the forge is asked what became of the pull request", run));
  }
  if (!gate.ok) return notWaiting(parts, run, intent, { source, signalId });
  const item = gate.value;
  if (item === undefined)
    return err({ code: "action_refused", detail: `Several gates of ${run.subject.id} are open, and none is named.` });
  const given = { answer: intent.answer, text: intent.comment };
  const commit = await parts.commitOf(run);
  const refused = refuseAnswer(item, given) ?? refuseOtherCommit(intent, commit);
  if (refused !== undefined) return err(refused);
  const answer = takenAnswer(item, given);
  const decided = commit === null ? {} : { commit };
  const { number, kind } = item;
  const body = { type: "item.answered", number, kind, answer, text: intent.comment, ...decided } as const;
  if (intent.type === "request-gate") {
    // Refused by the run, since no person speaks; what stays is the record that it was asked for.
    const asked = await parts.engine.deliver(run.id, body, "system", signalId);
    const said = intent.comment === "" ? "" : `: ${intent.comment}`;
    await parts.tell({
      runId: run.id,
      to: item.who,
      event: "request",
      text: `${run.subject.id}: ${source.name} asks for "${answer}" at ${item.stage}${said}`,
      item: `${run.id}.${item.number}`,
    });
    return ok(done("requested", `${item.who} is told; this source may not answer gates itself`, asked.run));
  }
  const delivery = await parts.engine.deliver(run.id, body, actorOf(source), signalId);
  // Somebody else was faster: then it is as if the gate had been closed before.
  if (delivery.ignored !== undefined) return notWaiting(parts, delivery.run, intent, undefined);
  return ok(done(delivery.duplicate ? "already_done" : "accepted", `${item.stage}: ${answer}`, delivery.run));
}

/** By the id of the ticket, else of the run. Of several runs the one that has not ended, else the newest. */
async function findSubject({ store }: CarryOutParts, subjectId: string): Promise<Run | undefined> {
  const runs = await store.runsOf(subjectId);
  const summary = runs.find(({ status }) => status !== "completed" && status !== "canceled") ?? runs[0];
  const runId = summary?.id ?? (/^r[0-9a-f]{10}$/.test(subjectId) ? subjectId : undefined);
  return runId === undefined ? undefined : (await store.loadRun(runId))?.run;
}

type Gate = InboxItem & { readonly kind: "gate" };

/** Undefined where it is not clear which one is meant. */
function gateOf(run: Run, { stages }: GateWord): Result<Gate | undefined, "none"> {
  const open = openItems(run).flatMap((item) =>
    item.kind === "gate" && (stages === null || stages.includes(item.stage)) ? [item] : [],
  );
  const [only, ...others] = open;
  if (only === undefined) return err("none");
  return ok(others.length === 0 ? only : undefined);
}

/** The same answer given before is no fault; anything else is told how things stand. */
async function notWaiting(
  parts: CarryOutParts,
  run: Run,
  { stages, answer, otherwise, type, comment }: GateWord & { readonly type: Intent["type"] },
  order: Pick<Order, "source" | "signalId"> | undefined,
): Promise<Result<CarriedOut, Refusal>> {
  const events = await allEvents(parts.store, run.id);
  const last = events.findLast(
    (event) => event.type === "gate.answered" && (stages === null || stages.includes(event.stage)),
  );
  const given = last?.type === "gate.answered" ? last : undefined;
  const taken = given === undefined ? "" : takenAnswer({ kind: "gate", answer: given.answer }, { answer, text: "" });
  // Whoever sends work back once more has something else to say.
  if (given?.answer === taken && (taken === "approve" || given.comment === comment))
    return ok(done("already_done", `${given.actor} answered ${given.answer} at ${given.at}`, run));
  if (otherwise === "cancel" && type === "answer-gate" && order !== undefined && !isEnded(run)) {
    const { source, signalId } = order;
    const body = { type: "cancel.requested", reason: comment } as const;
    const delivery = await parts.engine.deliver(run.id, body, actorOf(source), signalId);
    return ok(done("accepted", "the run is canceled", delivery.run));
  }
  const named = stages === null ? "no gate" : `the gate ${stages.join(" or ")}`;
  const before = given === undefined ? "" : `; ${given.actor} answered ${given.answer} at ${given.at}`;
  return err({
    code: "gate_not_waiting",
    detail: `${run.subject.id} is ${run.word} (${run.status}); ${named} is ${stages === null ? "" : "not "}open${before}.`,
    current: run.word,
  });
}

/** It is at a stage in which somebody outside merges its work. */
function waitsOutside(run: Run, { stages }: GateWord): boolean {
  return Object.values(run.tracks).some(
    (track) =>
      (track.at === "ready" || (track.at === "running" && track.outside === true)) &&
      (stages ?? LAST_GATES).includes(track.stage),
  );
}

/** An answer is about what was looked at. */
function refuseOtherCommit({ commit }: GateWord, current: string | null): Refusal | undefined {
  if (commit === null || current === null || current === commit) return undefined;
  return {
    code: "version_mismatch",
    detail: `The answer is about the commit ${commit}; the run's branch is at ${current}.`,
    current,
  };
}

async function startRun(
  parts: CarryOutParts,
  { source, signalId }: Order,
  ticket: TicketWord,
): Promise<Result<CarriedOut, Refusal>> {
  const key = createHash("sha256")
    .update(`webhook ticket\n${source.name}\n${ticket.origin ?? signalId}`)
    .digest("hex");
  const runId = `r${key.slice(0, 10)}`;
  const known = await parts.store.loadRun(runId);
  if (known !== undefined) return ok(done("already_done", "this ticket has its run", known.run));
  const resolved = parts.flows.resolve(ticket.flow);
  if (!resolved.ok) return err({ code: "flow_invalid", detail: resolved.error.message });
  // What strangers write does not reach an agent before a person has seen it.
  const [first] = resolved.value.flow.stages;
  const isGated = first?.kind === "gate" && first.when === undefined;
  if (!isGated && !source.authors.some((author) => author.toLowerCase() === ticket.author?.toLowerCase()))
    return ok({
      status: 202,
      code: "ignored_event",
      detail: `${ticket.flow} does not begin with a gate, and the author is not on the source's list`,
    });
  const subject: Subject = {
    id: ticket.id ?? `${source.name}-${key.slice(0, 8)}`,
    title: ticket.title,
    body: ticket.body,
  };
  const prepared = await parts.prepare({ resolved: resolved.value, subject, input: {} });
  if (!prepared.ok) return err({ code: "run_refused", detail: prepared.error.message });
  const { author, origin } = ticket;
  const { run, duplicate } = await parts.engine.startRun({
    runId,
    resolved: resolved.value,
    subject,
    facts: { ...prepared.value, webhook: { source: source.name, author, origin } },
    actor: actorOf(source),
  });
  return ok(done(duplicate ? "already_done" : "accepted", `${subject.id} is run with ${ticket.flow}`, run));
}

function done(code: CarriedOut["code"], detail: string, { id, status, word }: Run): CarriedOut {
  return { status: code === "already_done" ? 200 : 202, code, detail, run: { id, status, word } };
}
