// Carries out a delivery: answers a gate, asks the person who may answer, or starts a run for a ticket, with the rights of the source. The
// delivery's id is the key, so the same delivery changes a run once, also after a crash.

import type { Answered, AnswerRequest } from "../../app/answer-item.ts";
import { pastItems } from "../../app/find-item.ts";
import type { AppProblem, ClosingDecision } from "../../app/problem.ts";
import type { UseCases } from "../../app/use-cases.ts";
import { lastGates } from "../../core/flow/last-gates.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type InboxItem, isEnded, openItems, type Run } from "../../core/run/run.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { Store } from "../../store/store.ts";
import { waitingMerge } from "../../core/run/waiting-merge.ts";
import type { Refusal } from "../contract/problem.ts";
import { refusalOf } from "../server/refusal.ts";
import { WIRE_RULES } from "../server/wire-rules.ts";
import { carriedOut, type CarriedOut, senderOf } from "./carried-out.ts";
import type { GateStages, GateWord, Intent } from "./mapping.ts";
import type { WebhookSource } from "./source.ts";
import { startTicketRun } from "./start-ticket-run.ts";

export type CarryOutDeps = {
  readonly app: UseCases;
  readonly store: Store;
  /** Asks the forge about pull requests now; absent if this process does not perform. */
  readonly lookAtMerges?: () => void;
  /** Shows a request to the person who may answer it. */
  readonly notify: (request: GateRequest) => Promise<unknown>;
};

export type GateRequest = {
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

export function carryOut(deps: CarryOutDeps, order: Order): Promise<Result<CarriedOut, Refusal>> {
  const { intent, source, signalId } = order;
  return intent.type === "create-ticket"
    ? startTicketRun(deps, source, signalId, intent)
    : answerGate(deps, order, intent);
}

type GateIntent = GateWord & { readonly type: "answer-gate" | "request-gate" };

async function answerGate(deps: CarryOutDeps, order: Order, intent: GateIntent): Promise<Result<CarriedOut, Refusal>> {
  const run = await findSubject(deps, intent.subjectId);
  if (run === undefined)
    return err({
      code: "feature_not_found",
      detail: `Nothing with the id ${intent.subjectId} is known.`,
      hint: "A ticket is known from the start of its first run.",
    });
  if (await deps.store.hasSignal(run.id, order.signalId))
    return ok(carriedOut("already_done", "this delivery was taken", run));
  const resolved = await flowOf(deps.store, run);
  const stages = intent.stages === "last" ? lastGates(resolved.flow) : intent.stages;
  const [gate, ...others] = openItems(run).filter((item) => fits(item, stages));
  if (others.length > 0)
    return err({ code: "action_refused", detail: `Several gates of ${run.subject.id} are open, and none is named.` });
  if (gate !== undefined) return decide(deps, order, intent, run, gate.number);
  if (deps.lookAtMerges !== undefined && waitsOutside(resolved, run, intent.stages)) {
    // A sender's claim about a merge is no proof: Passrail asks the forge and trusts only its answer.
    deps.lookAtMerges();
    return ok(carriedOut("accepted", "the forge is asked what became of the pull request", run));
  }
  const closed = (await pastItems(deps.store, run.id)).findLast((item) => item.decided !== null && fits(item, stages));
  const again =
    closed === undefined ? undefined : await deps.app.answerItem(requestOf(intent, run, closed.number), sentBy(order));
  if (again?.ok === true) return ok(shown(again.value));
  return notWaiting(deps, order, intent, run, { stages, decided: closed?.decided ?? null });
}

async function decide(
  { app, notify }: CarryOutDeps,
  order: Order,
  intent: GateIntent,
  run: Run,
  number: number,
): Promise<Result<CarriedOut, Refusal>> {
  const request = requestOf(intent, run, number);
  if (intent.type === "answer-gate") {
    const answered = await app.answerItem(request, sentBy(order));
    return answered.ok ? ok(shown(answered.value)) : err(refusal(answered.error, run));
  }
  const asked = await app.requestAnswer(request, order.signalId);
  if (!asked.ok) return err(refusal(asked.error, run));
  if (asked.value.type === "already") return ok(shown(asked.value));
  const { item, answer } = asked.value;
  const said = intent.comment === "" ? "" : `: ${intent.comment}`;
  await notify({
    runId: run.id,
    to: item.who,
    event: "request",
    text: `${run.subject.id}: ${order.source.name} asks for "${answer}" at ${item.stage}${said}`,
    item: request.item,
  });
  const detail = `Passrail asks ${item.who}; this source may not answer gates itself`;
  return ok(carriedOut("requested", detail, asked.value.run));
}

/** A sender knows no versions; if the gate is closed, `current` is the run's status. */
function refusal(problem: AppProblem, { word }: Run): Refusal {
  const refused = refusalOf(problem);
  return problem.code === "gate_not_waiting" ? { ...refused, current: word } : refused;
}

function requestOf({ answer, comment, commit }: GateWord, run: Run, number: number): AnswerRequest {
  return {
    item: `${run.id}.${number}`,
    answer,
    text: comment,
    issues: [],
    seen: commit === null ? { type: "anything" } : { type: "commit", commit, orNone: true },
    rules: WIRE_RULES,
  };
}

function sentBy({ source, signalId }: Order) {
  return { actor: senderOf(source), key: signalId };
}

/** By the id of the ticket, otherwise of the run. Of several runs the open one, otherwise the newest. */
async function findSubject({ store }: CarryOutDeps, subjectId: string): Promise<Run | undefined> {
  const runs = await store.runsOf(subjectId);
  const summary = runs.find(({ status }) => status !== "completed" && status !== "canceled") ?? runs[0];
  const runId = summary?.id ?? (/^r[0-9a-f]{10}$/.test(subjectId) ? subjectId : undefined);
  return runId === undefined ? undefined : (await store.loadRun(runId))?.run;
}

function fits({ kind, stage }: Pick<InboxItem, "kind" | "stage">, stages: readonly string[] | null): boolean {
  return kind === "gate" && (stages === null || stages.includes(stage));
}

/** The run waits for a merge that happens outside Passrail. */
function waitsOutside(resolved: ResolvedFlow, run: Run, stages: GateStages): boolean {
  const waits = waitingMerge(resolved, run);
  return waits !== undefined && (stages === null || stages === "last" || stages.includes(waits.stage));
}

type Standing = {
  readonly stages: readonly string[] | null;
  readonly decided: ClosingDecision | null;
};

/** No gate fits and no such decision was made before: the rule may end the run, otherwise the sender gets the current state. */
async function notWaiting(
  { app }: CarryOutDeps,
  order: Order,
  { type, otherwise, comment }: GateIntent,
  run: Run,
  { stages, decided }: Standing,
): Promise<Result<CarriedOut, Refusal>> {
  if (otherwise === "cancel" && type === "answer-gate" && !isEnded(run)) {
    const canceled = await app.controlRun(run.id, { type: "cancel", reason: comment }, sentBy(order));
    return canceled.ok
      ? ok(carriedOut("accepted", "the run is canceled", canceled.value.run))
      : err(refusalOf(canceled.error));
  }
  const named = stages === null ? "no gate" : `the gate ${stages.join(" or ")}`;
  const before = decided === null ? "" : `; ${decided.by} answered ${decided.answer} at ${decided.at}`;
  return err({
    code: "gate_not_waiting",
    detail: `${run.subject.id} is ${run.word} (${run.status}); ${named} is ${stages === null ? "" : "not "}open${before}.`,
    current: run.word,
  });
}

function shown(answered: Answered): CarriedOut {
  if (answered.type === "answered")
    return carriedOut("accepted", `${answered.item.stage}: ${answered.answer}`, answered.run);
  const { by, answer, at } = answered.decided;
  return carriedOut("already_done", `${by} answered ${answer} at ${at}`, answered.run);
}
