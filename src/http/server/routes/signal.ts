// /api/signal of source 003: a second way for an agent to report. `complete` is for the last agent: the others hand over, because a story
// is complete only after every agent has seen it.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Flow, WorkStage } from "../../../core/flow/flow.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Report } from "../../../core/flow/outcome.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { isWork } from "../../../core/run/sequence.ts";
import { payloadProblems } from "../../../core/verdict/contract.ts";
import type { Call, MountRoute } from "../mount.ts";
import { isOwn } from "../agent-reach.ts";
import type { ServerDeps } from "../deps.ts";
import type { Principal } from "../principal.ts";
import type { Turns } from "../../../app/turns.ts";
import { type Asking, deliver, wasDone } from "./handoffs/deliver.ts";
import { redactJson } from "../../../core/secrets/redact-json.ts";
import { describeStory, inboxOf, type Stories, type Story } from "./handoffs/story.ts";
import { findTurn, finishOf, reportOf, type Turn } from "./handoffs/turn.ts";
import { optional } from "../../../core/optional.ts";

export function mountSignal(mount: MountRoute, deps: ServerDeps, stories: Stories, turns: Turns): void {
  mount.json(ROUTES.signalStory, async ({ body, principal, key }) => {
    const asking: Asking = { deps, stories, principal, ...optional({ key }) };
    return turns(body.storyId, () => signal(asking, body));
  });
}

type Signaled = AnswerOf<typeof ROUTES.signalStory>;
type Body = Call<typeof ROUTES.signalStory>["body"];

async function signal(asking: Asking, body: Body): Promise<Result<Signaled, Refusal>> {
  const found = await asking.stories.require(body.storyId, asking.principal);
  if (!found.ok) return found;
  const story = found.value;
  if (await wasDone(asking, story.run.id)) return signaled(asking, story);
  const { principal } = asking;
  const turn = findTurn(story, principal, "this caller", (stage) => isCallers(principal, stage));
  if (!turn.ok) return turn;
  if (body.action === "progress") return progress(asking, story, turn.value, body);
  const report = body.action === "blocked" ? ok(blocked(story.resolved.flow, body)) : complete(story, turn.value, body);
  if (!report.ok) return report;
  const after = await deliver(asking, story, finishOf(turn.value, report.value), turn.value.actor);
  return after.ok ? signaled(asking, { ...story, run: after.value }) : after;
}

function isCallers(principal: Principal, stage: WorkStage): boolean {
  if (principal.kind === "agent") return isOwn(principal, stage);
  return principal.kind !== "attempt" || stage.id === principal.stage;
}

/** Adds a note to the attempt; it decides nothing. An agent that reports progress has started. */
async function progress(
  asking: Asking,
  story: Story,
  { stage, track, actor }: Turn,
  body: Body,
): Promise<Result<Signaled, Refusal>> {
  const { attempt } = track;
  const started =
    track.at === "running"
      ? ok(story.run)
      : await deliver(asking, story, { type: "attempt.started", stage: stage.id, attempt, outside: true }, actor);
  if (!started.ok) return started;
  const { deps } = asking;
  const said = { at: deps.now(), message: body.message ?? "", ...linkOf(body) };
  await deps.store.noteAttempt(story.run.id, stage.id, attempt, { progress: redactJson(said, deps.redact) });
  return signaled(asking, { ...story, run: started.value });
}

function blocked({ words }: Flow, body: Body): Report {
  const message = body.message === undefined || body.message.trim() === "" ? "The agent is blocked." : body.message;
  const known = Object.entries(words.health).find(([, health]) => health === "blocked");
  return {
    health: known?.[0] ?? "blocked",
    reason: message,
    summary: message,
    questions: [message],
    payload: linkOf(body),
    structured: true,
  };
}

function complete({ resolved: { flow } }: Story, { stage }: Turn, body: Body): Result<Report, Refusal> {
  const last = flow.stages.findLast(isWork);
  if (last === undefined || last.id !== stage.id)
    return err({
      code: "out_of_turn",
      detail: `Only ${last?.shownAgent ?? "the last agent"} completes the story; it is with ${stage.shownAgent}.`,
      hint: "Create a handoff to the next agent instead.",
    });
  const payload: JsonObject = { ...optional({ summary: body.message }), ...linkOf(body) };
  const { refused, warnings } = payloadProblems(stage, payload);
  if (refused !== undefined) return err({ code: "payload_refused", detail: `${refused}.` });
  return ok(reportOf(flow, stage, "pass", { payload, warnings, summary: body.message ?? "complete" }));
}

function linkOf({ prUrl }: Body): { readonly pr_url?: string } {
  return prUrl === undefined ? {} : { pr_url: prUrl };
}

async function signaled({ stories }: Asking, story: Story): Promise<Result<Signaled, Refusal>> {
  return ok({ success: true, story: await describeStory(stories, story), inbox: inboxOf(story.run) });
}
