// GET and POST /api/handoffs of source 003.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { askingAgents, storyAgents, storyState } from "../../../core/view/story.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { reaches } from "../agent-reach.ts";
import type { Principal } from "../principal.ts";
import { createTurns } from "../../../app/turns.ts";
import { createHandoff, unknownAgent } from "./handoffs/create.ts";
import { mountDeletion } from "./handoffs/delete.ts";
import type { Asking } from "./handoffs/deliver.ts";
import { keepHandoff } from "./handoffs/keep.ts";
import { acceptHandoff, cleanUpHandoffs, rejectHandoff, timeOutHandoff } from "./handoffs/process.ts";
import { createStories, type Stories } from "./handoffs/story.ts";
import { FOREIGN } from "./handoffs/turn.ts";
import { mountSignal } from "./signal.ts";
import { mountStoryRun } from "./story-run.ts";
import { mountVerdict } from "./verdict.ts";
import { optional } from "../../../core/optional.ts";

export function mountHandoffs(mount: MountRoute, deps: ServerDeps): void {
  const stories = createStories(deps);
  // Concurrent requests about one story take turns: each reads it after the previous one was decided.
  const turns = createTurns();

  mount.json(ROUTES.listHandoffs, (call) => list(deps, stories, call));
  mount.json(ROUTES.actOnHandoff, async (call) => {
    const asking: Asking = {
      deps,
      stories,
      principal: call.principal,
      ...optional({ key: call.key }),
    };
    return turns(await storyOf(stories, call.body), () => act(asking, call.body));
  });
  mountDeletion(mount, deps, turns);
  mountStoryRun(mount, deps, stories, turns);
  mountSignal(mount, deps, stories, turns);
  mountVerdict(mount, deps, stories, turns);
}

type Acted = AnswerOf<typeof ROUTES.actOnHandoff>;

async function act(asking: Asking, body: Call<typeof ROUTES.actOnHandoff>["body"]): Promise<Result<Acted, Refusal>> {
  switch (body.action) {
    case "create":
      return createHandoff(asking, body);
    case "accept":
      return acceptHandoff(asking, body);
    case "heartbeat":
      return keepHandoff(asking, body);
    case "reject":
      return rejectHandoff(asking, body);
    case "timeout":
      return timeOutHandoff(asking, body);
    case "cleanup":
      return cleanUpHandoffs(asking, body);
  }
}

/** The story that a request is about, to take turns; empty for a handoff that does not exist. */
async function storyOf(stories: Stories, body: Call<typeof ROUTES.actOnHandoff>["body"]): Promise<string> {
  if ("storyId" in body) return body.storyId;
  const [row] = await stories.rows({ id: body.handoffId });
  return row?.subjectId ?? "";
}

type Listed = AnswerOf<typeof ROUTES.listHandoffs>;
const DEFAULT_MINUTES = 30;

async function list(
  deps: ServerDeps,
  stories: Stories,
  { query, principal }: Call<typeof ROUTES.listHandoffs>,
): Promise<Result<Listed, Refusal>> {
  const { storyId, agent, minutes } = query;
  const isStale = query.stale === "true";
  if (minutes !== undefined && !isStale) return err(wrong("minutes", "it belongs to stale=true"));
  if (isStale) return stale(deps, stories, query, principal);
  if (storyId === undefined)
    return err(wrong("storyId", "give storyId=… for a story, or stale=true for stale handoffs of all stories"));
  const found = await stories.find(storyId, principal);
  if (!found.ok) return found;
  const story = found.value;
  if (story === undefined)
    return ok(agent === undefined ? { currentAgent: null, phase: null, handoffs: [] } : { handoff: null });
  const { flow } = story.resolved;
  if (agent !== undefined && !storyAgents(flow).includes(agent)) return err(unknownAgent(flow, agent, "agent"));
  const rows = await stories.rows({ subjectId: storyId });
  if (agent !== undefined) {
    const pending = rows.findLast(({ state, toAgent }) => state === "pending" && toAgent === agent);
    const [handoff = null] = pending === undefined ? [] : await stories.show([pending]);
    return ok({ handoff });
  }
  const own = rows.filter(({ runId }) => runId === story.run.id);
  const { currentAgent, phase } = storyState(flow, own, askingAgents(flow, story.run));
  return ok({ currentAgent, phase, handoffs: await stories.show(rows) });
}

/** Pending for longer than the limit; at exactly the limit it is not stale yet. */
async function stale(
  { now }: ServerDeps,
  stories: Stories,
  { storyId, agent, minutes = DEFAULT_MINUTES }: Call<typeof ROUTES.listHandoffs>["query"],
  principal: Principal,
): Promise<Result<Listed, Refusal>> {
  if (principal.kind === "attempt") return err(FOREIGN);
  const limit = new Date(Date.parse(now()) - minutes * 60_000).toISOString();
  const rows = await stories.rows(minutes === 0 ? { pending: true } : { pendingSince: limit });
  const wanted = rows.filter(
    ({ subjectId, toAgent }) =>
      (storyId === undefined || subjectId === storyId) && (agent === undefined || toAgent === agent),
  );
  const reached = await Promise.all(
    wanted.map(async ({ runId }) => {
      const story = principal.kind === "agent" ? await stories.ofRun(runId) : undefined;
      return principal.kind !== "agent" || (story !== undefined && reaches(principal, story));
    }),
  );
  const shown = wanted.filter((_, index) => reached[index]);
  return ok({ stale: await stories.show(shown), thresholdMinutes: minutes });
}

function wrong(name: string, why: string): Refusal {
  return { code: "invalid_query", detail: `${name}: ${why}.`, pointer: name };
}
