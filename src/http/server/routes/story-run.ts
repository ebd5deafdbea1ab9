// /api/run of source 003: stories as a whole. `start` first times out stale handoffs, then runs the story; `continue` cleans nothing;
// `stop` starts nothing more; `reset` closes pending handoffs.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { isStale } from "../../../core/view/story.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { isPlayedOutside } from "../../../core/flow/runner-choice.ts";
import { isEnded, type Run } from "../../../core/run/run.ts";
import type { HandoffRow } from "../../../store/store.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import type { Turns } from "../../../app/turns.ts";
import { type Asking, control, wasDone } from "./handoffs/deliver.ts";
import { closePending, expire } from "./handoffs/process.ts";
import { runIdOf } from "../../../app/run-id.ts";
import { startAgain, startFirst } from "./handoffs/start.ts";
import { describeStory, inboxOf, type Stories, type Story } from "./handoffs/story.ts";
import { currentWork } from "./handoffs/turn.ts";
import { optional } from "../../../core/optional.ts";

export function mountStoryRun(mount: MountRoute, deps: ServerDeps, stories: Stories, turns: Turns): void {
  mount.json(ROUTES.storyStatus, async () => {
    const open = await stories.open();
    return ok({
      running: open.some(({ run }) => goesOn(run)),
      stories: await Promise.all(open.map((story) => describeStory(stories, story))),
    });
  });

  mount.json(ROUTES.runStory, async ({ body, principal, key }) => {
    const asking: Asking = { deps, stories, principal, ...optional({ key }) };
    return ACTIONS[body.action]({ asking, turns, body });
  });
}

type Acted = AnswerOf<typeof ROUTES.runStory>;
type Act = {
  readonly asking: Asking;
  readonly turns: Turns;
  readonly body: Call<typeof ROUTES.runStory>["body"];
};

const ACTIONS: Readonly<Record<Act["body"]["action"], (act: Act) => Promise<Result<Acted, Refusal>>>> = {
  start,
  continue: (act) => onEach(act, (story) => goOn(act.asking, story, act.body.storyId !== undefined)),
  stop: (act) =>
    onEach(act, (story) =>
      goesOn(story.run)
        ? control(act.asking, story, { type: "pause", reason: "stopped by POST /api/run" }, ":stop")
        : unchanged(story),
    ),
  reset,
};

async function start({ asking, turns, body }: Act): Promise<Result<Acted, Refusal>> {
  const { stories, principal } = asking;
  const { storyId } = body;
  if (storyId === undefined) return startAll({ asking, turns, body });
  const known = await stories.find(storyId, principal);
  if (!known.ok && known.error.code !== "story_not_found") return known;
  const before = known.ok ? known.value : undefined;
  if (before !== undefined && (await isRepeated(asking, before.run))) return acted(asking, [before], 0);
  if (before !== undefined && (await isActive(asking, before))) return err(active(before.run));
  const timedOut = await timeOutStale(asking, turns);
  const started = await turns(storyId, async (): Promise<Result<Story, Refusal>> => {
    // A concurrent request may have been faster.
    const found = await stories.find(storyId, principal);
    const story = found.ok ? found.value : undefined;
    const subject = { id: storyId, title: body.title ?? storyId, body: body.body ?? "" };
    if (story === undefined) return startFirst(asking, subject, body.flow);
    const isOtherFlow = body.flow !== undefined && body.flow !== story.run.flow;
    if (isEnded(story.run))
      return isOtherFlow ? startFirst(asking, subject, body.flow) : startAgain(asking, renamed(story, body));
    const after = await goOn(asking, story, true);
    return after.ok && after.value === undefined ? err(active(story.run)) : orSame(after, story);
  });
  return started.ok ? acted(asking, [started.value], timedOut.length) : started;
}

/** Resumes all stories that were stopped or timed out. */
async function startAll({ asking, turns }: Act): Promise<Result<Acted, Refusal>> {
  const timedOut = await timeOutStale(asking, turns);
  const changed: Story[] = [];
  const open = await asking.stories.open();
  for (const { run } of open) {
    const after = await turns(run.subject.id, async () => {
      const story = await asking.stories.ofRun(run.id);
      return story === undefined ? ok(undefined) : goOn(asking, story, timedOut.includes(run.id));
    });
    if (!after.ok) continue;
    if (after.value !== undefined) changed.push(after.value);
  }
  const busy = open.find(({ run }) => goesOn(run));
  if (changed.length === 0 && timedOut.length === 0 && busy !== undefined) return err(active(busy.run));
  return acted(asking, changed, timedOut.length);
}

async function reset(act: Act): Promise<Result<Acted, Refusal>> {
  let cleared = 0;
  const done = await onEach(act, async (story) => {
    const closed = await closePending(act.asking, story, "Reset");
    cleared += closed;
    return closed === 0 ? unchanged(story) : ok((await act.asking.stories.ofRun(story.run.id)) ?? story);
  });
  return done.ok ? ok({ ...done.value, clearedHandoffs: cleared }) : done;
}

type Changed = Result<Story | undefined, Refusal>;

/** The named story, or all open ones; undefined means that one did not change. */
async function onEach(
  { asking, turns, body: { storyId } }: Act,
  act: (story: Story) => Promise<Changed>,
): Promise<Result<Acted, Refusal>> {
  const { stories, principal } = asking;
  const named = storyId === undefined ? undefined : await stories.require(storyId, principal);
  if (named?.ok === false) return named;
  const wanted = named === undefined ? await stories.open() : [named.value];
  const changed: Story[] = [];
  for (const { run } of wanted) {
    const after = await turns(run.subject.id, async () => {
      const story = await stories.ofRun(run.id);
      return story === undefined ? ok(undefined) : act(story);
    });
    // A story that fails does not stop the others; if the caller named it, the caller gets the error.
    if (!after.ok && storyId !== undefined) return after;
    if (after.ok && after.value !== undefined) changed.push(after.value);
  }
  return acted(asking, changed, 0);
}

/** Resumes a paused run; with `triesAgain`, retries the stages of one that stopped. */
async function goOn(asking: Asking, story: Story, triesAgain: boolean): Promise<Changed> {
  const { run } = story;
  if (isEnded(run)) return unchanged(story);
  if (run.paused) return control(asking, story, { type: "resume" }, ":resume");
  const stages = triesAgain ? restingStages(run) : [];
  if (stages.length === 0) return unchanged(story);
  let after: Result<Story, Refusal> = ok(story);
  for (const stage of stages) {
    if (!after.ok) return after;
    after = await control(asking, after.value, { type: "retry", stage, note: "" }, `:retry:${stage}`);
  }
  return after;
}

/** Stages that stopped, or whose handoff timed out, so that a person was asked. Other questions need an answer. */
function restingStages(run: Run): readonly string[] {
  return Object.values(run.tracks).flatMap((track) => {
    const isUntaken = track.at === "waiting" && track.item.kind === "escalation" && track.carry.untaken === true;
    return track.at === "stopped" || isUntaken ? [track.stage] : [];
  });
}

async function unchanged(_story: Story): Promise<Changed> {
  return ok(undefined);
}

function orSame(after: Changed, story: Story): Result<Story, Refusal> {
  return after.ok ? ok(after.value ?? story) : after;
}

/** Passrail itself starts the programs of the others: their work only waits for a slot, a budget or a time, and is not late. */
function waitsForAgent({ run, resolved }: Story, { number }: Pick<HandoffRow, "number">): boolean {
  return currentWork({ run, resolved }).some(
    ({ stage, track }) => track.carry.handoff === number && isPlayedOutside(resolved, run.facts, stage),
  );
}

/** Times out the stale handoffs of every story that wait for agents outside, and returns their stories. Younger ones stay. */
async function timeOutStale(asking: Asking, turns: Turns): Promise<readonly string[]> {
  const { stories, deps } = asking;
  const runs: string[] = [];
  for (const { id, runId, subjectId, toAgent } of await stories.rows({ pending: true })) {
    const done = await turns(subjectId, async () => {
      const [row] = await stories.rows({ id });
      const story = await stories.ofRun(runId);
      if (row === undefined || story === undefined) return undefined;
      if (!waitsForAgent(story, row)) return undefined;
      const limitMs = story.resolved.flow.handoffs.staleAfterMs;
      if (!isStale(row, Date.parse(deps.now()), limitMs)) return undefined;
      const reason = `Timed out on restart: ${toAgent ?? "nobody"} did not take it within ${limitMs / 60_000} minutes`;
      return expire(asking, story, row, reason, "route", `:stale:${row.number}`);
    });
    if (done?.ok === true) runs.push(runId);
  }
  return runs;
}

/** True for an open run, unless it is paused, has stopped, or its pending handoff is stale. */
async function isActive({ stories, deps }: Asking, { run, resolved }: Story): Promise<boolean> {
  if (run.paused || restingStages(run).length > 0) return false;
  if (!goesOn(run)) return !isEnded(run);
  const last = (await stories.rowsOf(run)).at(-1);
  if (last === undefined || !waitsForAgent({ run, resolved }, last)) return true;
  return !isStale(last, Date.parse(deps.now()), resolved.flow.handoffs.staleAfterMs);
}

/** The same request did this earlier, perhaps before a restart. */
async function isRepeated(asking: Asking, run: Run): Promise<boolean> {
  if (asking.key === undefined) return false;
  return run.id === runIdOf(asking.key) || wasDone(asking, run.id, ":resume");
}

function goesOn(run: Run): boolean {
  return run.status === "running" && !run.paused;
}

function renamed({ run, resolved }: Story, { title, body }: Act["body"]): Story {
  const subject = {
    ...run.subject,
    ...optional({ title, body }),
  };
  return { run: { ...run, subject }, resolved };
}

function active(run: Run): Refusal {
  const item = inboxOf(run);
  return {
    code: "story_active",
    detail: `${run.subject.id} is ${run.status} (${run.word}) already${item === null ? "" : ` and waits for an answer to ${item}`}.`,
    hint: item === null ? `{"action":"stop"} lets nothing more of it start` : `POST /api/inbox/${item}/answer`,
  };
}

async function acted(
  { stories }: Asking,
  changed: readonly Story[],
  timedOut: number,
): Promise<Result<Acted, Refusal>> {
  return ok({
    success: true,
    stories: await Promise.all(changed.map((story) => describeStory(stories, story))),
    timedOutHandoffs: timedOut,
    clearedHandoffs: 0,
  });
}
