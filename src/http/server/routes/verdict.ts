// The verdict of an attempt over HTTP, read by the rules of the verdict file. Also how an outside agent finds and takes work of any flow.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { WorkStage } from "../../../core/flow/flow.ts";
import { judge } from "../../../core/verdict/judge.ts";
import { type Outcome, type Report, routeKey } from "../../../core/flow/outcome.ts";
import { isPlayedOutside } from "../../../core/flow/runner-choice.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type { Run } from "../../../core/run/run.ts";
import { readRouteList } from "../../../core/verdict/route-list.ts";
import { readVerdictFile } from "../../../core/verdict/verdict-file.ts";
import { branchOf } from "../../../core/run/branch.ts";
import { payloadProblems } from "../../../core/verdict/contract.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { findRun } from "../find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { isOwn, reaches } from "../agent-reach.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import type { Principal } from "../principal.ts";
import type { Turns } from "../../../app/turns.ts";
import { type Asking, deliver, wasDone } from "./handoffs/deliver.ts";
import { outsidePrompt } from "./handoffs/prompt.ts";
import { refuseReview } from "./handoffs/findings.ts";
import type { Stories, Story } from "./handoffs/story.ts";
import { type CurrentWork, currentWork, findTurn, finishOf } from "./handoffs/turn.ts";
import { optional } from "../../../core/optional.ts";

export function mountVerdict(mount: MountRoute, deps: ServerDeps, stories: Stories, turns: Turns): void {
  const { store } = deps;
  const asking = (principal: Principal, key: string | undefined): Asking => ({
    deps,
    stories,
    principal,
    ...optional({ key }),
  });

  mount.json(ROUTES.submitVerdict, async ({ params, body, principal, key }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    return turns(found.value.run.subject.id, () => submit(asking(principal, key), found.value.run.id, body));
  });

  mount.json(ROUTES.listWork, async ({ query, principal }) =>
    ok({ work: await listWork(deps, query.agent, principal) }),
  );

  mount.json(ROUTES.startWork, async ({ params, principal, key, origin }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { id, subject } = found.value.run;
    return turns(subject.id, () => start(asking(principal, key), id, params.stage, origin));
  });
}

type Taken = AnswerOf<typeof ROUTES.submitVerdict>;

async function submit(
  asking: Asking,
  runId: string,
  body: Call<typeof ROUTES.submitVerdict>["body"],
): Promise<Result<Taken, Refusal>> {
  const at = await load(asking.deps, runId);
  const { stage: named, ...given } = body;
  const text = JSON.stringify(given);
  const subject = { subjectId: at.run.subject.id, subjectKey: `${at.resolved.flow.subject}_id` };
  const form = readVerdictFile(text, subject);
  if (!form.ok) return err(invalid(form.error.message));
  if (await wasDone(asking, runId)) return again(asking, runId);
  const agent = typeof given["agent"] === "string" ? given["agent"].toLowerCase() : undefined;
  const { principal } = asking;
  const turn = findTurn(at, principal, named ?? agent ?? "this caller", (stage) => {
    if (named !== undefined) return stage.id === named;
    if (principal.kind === "attempt") return stage.id === principal.stage;
    if (principal.kind === "agent") return isOwn(principal, stage);
    return agent === undefined || stage.agent === agent;
  });
  if (!turn.ok) return turn;
  const { stage, track, isOutside, actor } = turn.value;
  const reading = readVerdictFile(text, { ...subject, agent: stage.agent });
  if (!reading.ok) return err(invalid(reading.error.message));
  if (!isOutside && leavesFiles(stage))
    return err(invalid(`${stage.id} is judged by the files that it leaves: write them, and end.`));
  const report = knownStages(at.resolved, stage, { ...reading.value, structured: true });
  if (!report.ok) return report;
  const meant = meaningOf(at.resolved, stage, report.value);
  if (!meant.ok) return meant;
  const { outcome, warnings } = meant.value;
  const unanswered = refuseReview(at.run, stage, outcome);
  if (unanswered !== undefined) return err(unanswered);
  const full: Report = { ...report.value, warnings: [...(report.value.warnings ?? []), ...warnings] };
  const after = await deliver(asking, at, finishOf(turn.value, full), actor);
  return after.ok ? taken(asking, runId, stage.id, track.attempt, outcome, warnings) : after;
}

/** Files are checked when the program of an attempt ends; a verdict sent before would bypass that check. */
function leavesFiles({ result, writes }: WorkStage): boolean {
  return result.from === "handoff-file" || result.from === "file-verdict" || writes.length > 0;
}

/** A router's list comes from a model on every channel: it names existing agents, or it is refused. */
function knownStages({ agents }: ResolvedFlow, stage: WorkStage, report: Report): Result<Report, Refusal> {
  if (stage.kind !== "router" || report.stages === undefined) return ok(report);
  const others = Object.keys(agents).filter((name) => name !== stage.agent);
  const read = readRouteList(JSON.stringify(report.stages), others);
  return read.ok ? ok({ ...report, ...read.value }) : err(invalid(read.error.message));
}

/** Refuses an ambiguous verdict, even where the flow would count it: the caller can still correct it. */
function meaningOf(
  { flow }: ResolvedFlow,
  stage: WorkStage,
  report: Report,
): Result<{ readonly outcome: Outcome; readonly warnings: readonly string[] }, Refusal> {
  const outcome = judge({ ...flow.words, unknownVerdict: "failed" }, stage, report);
  if (outcome.cause !== undefined) return err(invalid(`${outcome.reason ?? outcome.cause}.`));
  if (routeKey(outcome) !== "pass") return ok({ outcome, warnings: [] });
  const { refused, warnings } = payloadProblems(stage, report.payload);
  return refused === undefined
    ? ok({ outcome, warnings })
    : err({ code: "payload_refused", detail: `${refused}.`, pointer: "/payload" });
}

async function taken(
  { deps }: Asking,
  runId: string,
  stage: string,
  attempt: number,
  { health, verdict, word, warnings }: Outcome,
  more: readonly string[],
): Promise<Result<Taken, Refusal>> {
  const found = await findRun(deps.store, runId);
  if (!found.ok) return found;
  const { summary } = found.value;
  return ok({
    run: summary,
    stage,
    attempt,
    health,
    verdict: verdict ?? null,
    word: word ?? null,
    warnings: [...warnings, ...more],
  });
}

/** The same request again, perhaps after a restart: answers with its first result. */
async function again(asking: Asking, runId: string): Promise<Result<Taken, Refusal>> {
  const done = (await asking.deps.store.attempts(runId)).filter(({ status }) => status === "done");
  const last = done.toSorted((a, b) => (a.endedAt ?? "").localeCompare(b.endedAt ?? "")).at(-1);
  if (last === undefined) throw new Error(`a verdict of run ${runId} has ended no attempt`);
  return taken(asking, runId, last.stage, last.attempt, last.outcome as unknown as Outcome, []);
}

const WORK_AT_MOST = 1000;

async function listWork(deps: ServerDeps, agent: string | undefined, principal: Principal) {
  const work = [];
  for (const runId of (await deps.store.activeRuns()).slice(0, WORK_AT_MOST)) {
    const stored = await deps.store.loadRun(runId);
    if (stored === undefined || stored.run.paused) continue;
    const at = { run: stored.run, resolved: await flowOf(deps.store, stored.run) };
    if (!reaches(principal, at)) continue;
    for (const found of currentWork(at)) {
      const { stage, track } = found;
      if (principal.kind === "agent" && !isOwn(principal, stage)) continue;
      const isWanted = agent === undefined || stage.shownAgent === agent || stage.agent === agent;
      if (track.at !== "ready" || !isWanted || !isPlayedOutside(at.resolved, at.run.facts, stage)) continue;
      work.push({ ...(await showWork(deps, at.run, found)), since: track.since });
    }
  }
  return work.toSorted((a, b) => a.since.localeCompare(b.since));
}

async function showWork({ store }: ServerDeps, run: Run, { stage, track }: CurrentWork) {
  const { handoff } = track.carry;
  const row = handoff === 0 ? undefined : (await store.handoffs(run.id)).find(({ number }) => number === handoff);
  return {
    run: run.id,
    stage: stage.id,
    attempt: track.attempt,
    agent: stage.shownAgent,
    flow: run.flow,
    subject: { id: run.subject.id, title: run.subject.title },
    handoffId: row?.id ?? null,
  };
}

async function start(
  asking: Asking,
  runId: string,
  stageId: string,
  url: string,
): Promise<Result<AnswerOf<typeof ROUTES.startWork>, Refusal>> {
  const { deps, principal } = asking;
  const at = await load(deps, runId);
  const isDone = await wasDone(asking, runId);
  const wanted = isDone ? "running" : "ready";
  const turn = findTurn(at, principal, stageId, ({ id }, track) => id === stageId && track.at === wanted);
  if (!turn.ok) return turn;
  const { name, stage, track, actor } = turn.value;
  const { attempt, carry } = track;
  const prompt = await outsidePrompt(deps, { ...at, track: name, stage, carry, url });
  if (!isDone) {
    const after = await deliver(asking, at, { type: "attempt.started", stage: stageId, attempt, outside: true }, actor);
    if (!after.ok) return after;
  }
  return ok({
    ...(await showWork(deps, at.run, turn.value)),
    prompt,
    project: projectOf(at.run),
    branch: branchOf(at.resolved.flow, at.run),
  });
}

/** Loads inside the turn, so that the state is current when the decision is made. */
async function load({ store }: ServerDeps, runId: string): Promise<Story> {
  const stored = await store.loadRun(runId);
  if (stored === undefined) throw new Error(`run ${runId} is gone`);
  return { run: stored.run, resolved: await flowOf(store, stored.run) };
}

function invalid(detail: string): Refusal {
  return { code: "verdict_invalid", detail };
}
