// `create`: an agent hands the story on. The flow says which agents may hand over to which; the run says whose turn it is. The first
// handoff from the flow's entry starts an ended story again. A person may create a handoff again that no agent took in time.

import { Buffer } from "node:buffer";
import type { Refusal } from "../../../contract/problem.ts";
import { type HandoffAction, PAYLOAD_BYTES } from "../../../contract/schemas/handoff-action.ts";
import type { Flow, WorkStage } from "../../../../core/flow/flow.ts";
import { canonicalJson, type JsonObject } from "../../../../core/json.ts";
import type { Report } from "../../../../core/flow/outcome.ts";
import { isValidTransition, storyAgents, storyTransitions } from "../../../../core/view/story.ts";
import { err, ok } from "../../../../core/result.ts";
import { isEnded, type Run } from "../../../../core/run/run.ts";
import { findWork, isWork } from "../../../../core/run/sequence.ts";
import { payloadProblems } from "../../../../core/verdict/contract.ts";
import { judge } from "../../../../core/verdict/judge.ts";
import type { HandoffRow } from "../../../../store/store.ts";
import { type Asking, control, deliver, wasDone } from "./deliver.ts";
import { runIdOf } from "../../../../app/run-id.ts";
import { startAgain } from "./start.ts";
import { notesOf, refuseReview } from "./findings.ts";
import { inboxOf, type Story } from "./story.ts";
import { findTurn, FOREIGN, finishOf, reportOf } from "./turn.ts";
import { optional } from "../../../../core/optional.ts";

type Wanted = Extract<HandoffAction, { readonly action: "create" }>;

export async function createHandoff(asking: Asking, wanted: Wanted) {
  const found = await asking.stories.require(wanted.storyId, asking.principal);
  if (!found.ok) return found;
  const story = found.value;
  const refused = refuseEdge(story.resolved.flow, wanted) ?? refusePayload(wanted.payload);
  if (refused !== undefined) return err(refused);
  if (isOtherAgent(asking, story, wanted.fromAgent)) return err(FOREIGN);
  const rows = await asking.stories.rowsOf(story.run);
  const edge = (row: HandoffRow) => row.fromAgent === wanted.fromAgent && row.toAgent === wanted.toAgent;
  if (await wasDone(asking, story.run.id)) return handedOn(asking, story.run, rows.findLast(edge), []);
  const { flow } = story.resolved;
  const isFirst = wanted.fromAgent === flow.handoffs.entry && wanted.toAgent === firstAgent(flow);
  // The run that this request started is no obstacle to it.
  if (isFirst && asking.key !== undefined && story.run.id === runIdOf(asking.key))
    return handedOn(asking, story.run, rows[0], []);
  const pending = rows.findLast(({ state, toAgent }) => state === "pending" && toAgent === wanted.toAgent);
  if (pending !== undefined) return err(await exists(asking, pending));
  if (rows.at(-1)?.state === "expired" && rows.findLast(edge) === rows.at(-1))
    return reopen(asking, story, wanted, rows);
  return isFirst ? begin(asking, story) : handOn(asking, story, wanted);
}

/** The working agent passes the story on, or sends it back if the flow has such an edge. */
async function handOn(asking: Asking, story: Story, { fromAgent, toAgent, payload, findings }: Wanted) {
  const { run, resolved } = story;
  const turn = findTurn(story, asking.principal, fromAgent, ({ shownAgent }) => shownAgent === fromAgent);
  if (!turn.ok) return turn;
  const { stage, track, actor } = turn.value;
  const isPass = nextAgent(resolved.flow, stage) === toAgent;
  const checked = isPass ? payloadProblems(stage, payload as JsonObject | undefined) : { warnings: [] };
  if (checked.refused !== undefined)
    return err<Refusal>({ code: "payload_refused", detail: `${checked.refused}.`, pointer: "/payload" });
  const said = saidBy(payload as JsonObject | undefined, checked.warnings, isPass);
  const report = reportOf(resolved.flow, stage, isPass ? "pass" : "revise", { ...said, ...notesOf(findings) });
  const unanswered = refuseReview(run, stage, judge(resolved.flow.words, stage, report));
  if (unanswered !== undefined) return err(unanswered);
  const after = await deliver(asking, story, finishOf(turn.value, report), actor);
  if (!after.ok) return after;
  const made = (await asking.stories.rowsOf(run)).find(
    ({ number, fromStage, fromAttempt }) =>
      number > run.handoffs && fromStage === stage.id && fromAttempt === track.attempt,
  );
  return handedOn(asking, after.value, made, checked.warnings);
}

/** No agent took the handoff in time, so the story waits at its receiver: a person hands it over again. */
async function reopen(asking: Asking, story: Story, wanted: Wanted, rows: readonly HandoffRow[]) {
  const { run, resolved } = story;
  const { toAgent, payload } = wanted;
  if (asking.principal.kind !== "operator") return err(FOREIGN);
  const stopped = Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at !== "stopped" && track.at !== "waiting") return [];
    return findWork(resolved.flow, run, name, track.stage)?.shownAgent === toAgent ? [track.stage] : [];
  });
  const [stage] = stopped;
  if (stage === undefined) return isEnded(run) ? begin(asking, story) : handOn(asking, story, wanted);
  const after = await control(asking, story, { type: "retry", stage, note: "" });
  if (!after.ok) return after;
  const made = (await asking.stories.rowsOf(run)).find(({ number }) => number > run.handoffs);
  const isOther = payload !== undefined && canonicalJson(payload) !== canonicalJson(rows.at(-1)?.payload ?? {});
  const warnings = isOther ? ["payload_kept: the payload that was handed over before is handed over again"] : [];
  return handedOn(asking, after.value.run, made, warnings);
}

async function begin(asking: Asking, story: Story) {
  const { run } = story;
  if (asking.principal.kind !== "operator") return err(FOREIGN);
  if (!isEnded(run))
    return err<Refusal>({ code: "out_of_turn", detail: `${run.subject.id} is ${run.status} (${run.word}) already.` });
  const started = await startAgain(asking, story);
  if (!started.ok) return started;
  const [first] = await asking.stories.rowsOf(started.value.run);
  return handedOn(asking, started.value.run, first, []);
}

async function handedOn(asking: Asking, run: Run, row: HandoffRow | undefined, warnings: readonly string[]) {
  const [handoff = null] = row === undefined ? [] : await asking.stories.show([row]);
  return ok({ success: true as const, handoff, warnings: [...warnings], inbox: inboxOf(run) });
}

/** A token of an attempt speaks only for the agent of that attempt, a key of an agent for that agent. */
function isOtherAgent({ principal }: Asking, { run, resolved }: Story, agent: string): boolean {
  if (principal.kind === "agent") return agent !== principal.agent;
  if (principal.kind !== "attempt") return false;
  const stages = Object.keys(run.tracks).map((track) => findWork(resolved.flow, run, track, principal.stage));
  return !stages.some((stage) => stage?.shownAgent === agent);
}

function refuseEdge(flow: Flow, { fromAgent, toAgent }: Wanted): Refusal | undefined {
  const agents = storyAgents(flow);
  for (const [pointer, agent] of [
    ["/fromAgent", fromAgent],
    ["/toAgent", toAgent],
  ] as const)
    if (!agents.includes(agent)) return unknownAgent(flow, agent, pointer);
  if (isValidTransition(flow, fromAgent, toAgent)) return undefined;
  const valid = storyTransitions(flow).map(({ from, to }) => `${from}→${to}`);
  return {
    code: "invalid_transition",
    detail: `Invalid transition: ${fromAgent}→${toAgent}.`,
    hint: `Valid: ${valid.join(", ")}`,
  };
}

export function unknownAgent(flow: Flow, agent: string, pointer: string): Refusal {
  return {
    code: "unknown_agent",
    detail: `There is no agent ${JSON.stringify(agent)} in this story.`,
    pointer,
    hint: `Its agents: ${storyAgents(flow).join(", ")}`,
  };
}

export function refusePayload(payload: Wanted["payload"]): Refusal | undefined {
  if (payload === undefined || Buffer.byteLength(JSON.stringify(payload)) <= PAYLOAD_BYTES) return undefined;
  return { code: "payload_too_large", detail: `A payload may have ${PAYLOAD_BYTES} bytes.`, pointer: "/payload" };
}

async function exists(asking: Asking, row: HandoffRow): Promise<Refusal> {
  const [handoff] = await asking.stories.show([row]);
  return {
    code: "handoff_exists",
    detail: `Handoff ${row.id} to ${row.toAgent} is pending already.`,
    ...optional({ handoff }),
  };
}

/** The report's fields besides its verdict: the next agent reads the summary, the agent that gets the work back reads the reason. */
function saidBy(payload: JsonObject | undefined, warnings: readonly string[], isPass: boolean): Partial<Report> {
  const given = payload === undefined ? {} : { payload };
  const summary = textOf(payload, ["summary"]) ?? JSON.stringify(payload ?? {}, null, 1);
  if (isPass) return { ...given, summary: summary.slice(0, SUMMARY_CHARS), warnings };
  const reason = textOf(payload, ["rejection_reason", "reason", "review_notes", "summary"]) ?? "sent back";
  return { ...given, summary: summary.slice(0, SUMMARY_CHARS), reason, issues: [reason] };
}

const SUMMARY_CHARS = 8 * 1024;

function textOf(payload: JsonObject | undefined, keys: readonly string[]): string | undefined {
  const texts = keys.map((key) => payload?.[key]);
  return texts.find((text): text is string => typeof text === "string" && text.trim() !== "")?.slice(0, SUMMARY_CHARS);
}

function firstAgent(flow: Flow): string | undefined {
  return flow.stages.find(isWork)?.shownAgent;
}

/** The agent that gets the work when this stage passes it on. */
function nextAgent(flow: Flow, { id }: WorkStage): string | undefined {
  const stages = flow.stages.filter(isWork);
  return stages[stages.findIndex((stage) => stage.id === id) + 1]?.shownAgent ?? flow.handoffs.exit;
}
