// A story: the run of a subject in a flow that has handoffs; the open run, otherwise the newest. Its rows are those of all its runs; only
// the current run says whose turn it is.

import type { Refusal } from "../../../contract/problem.ts";
import type { HandoffRowShown } from "../../../contract/schemas/handoff-row.ts";
import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import { askingAgents, type StoryState, storyState } from "../../../../core/view/story.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import { isStoryFlow } from "../../../../core/run/told.ts";
import { isEnded, openItems, type Run } from "../../../../core/run/run.ts";
import type { HandoffRow, RunSummary, Store } from "../../../../store/store.ts";
import type { ServerDeps } from "../../deps.ts";
import { reaches } from "../../agent-reach.ts";
import type { Principal } from "../../principal.ts";
import { FOREIGN } from "./turn.ts";
import { acceptedWith, showHandoff } from "../../../../core/view/handoff-row.ts";
import { flowOf } from "../../../../store/flow-of.ts";

export type Story = { readonly run: Run; readonly resolved: ResolvedFlow };

/** Runs of one subject that are searched for a story. */
const LOOKED_THROUGH = 100;

export type Stories = {
  /** Undefined for a known subject without a flow that has handoffs. */
  find(storyId: string, principal: Principal): Promise<Result<Story | undefined, Refusal>>;
  require(storyId: string, principal: Principal): Promise<Result<Story, Refusal>>;
  /** The story of a run; undefined if its flow has no handoffs. */
  ofRun(runId: string): Promise<Story | undefined>;
  /** Those whose run has not ended, oldest first. */
  open(): Promise<readonly Story[]>;
  /** Without those of flows that have no handoffs. */
  rows(query: Parameters<Store["handoffRows"]>[0]): Promise<readonly HandoffRow[]>;
  rowsOf(run: Run): Promise<readonly HandoffRow[]>;
  state(story: Story): Promise<StoryState>;
  /** For display, with the payloads that receivers added. */
  show(rows: readonly HandoffRow[]): Promise<HandoffRowShown[]>;
};

export function createStories({ store }: Pick<ServerDeps, "store">): Stories {
  const stories: Stories = {
    async find(storyId, principal) {
      if (principal.kind === "attempt") {
        const own = await stories.ofRun(principal.runId);
        if (own?.run.subject.id !== storyId) return err(FOREIGN);
        return ok(own);
      }
      const summaries = await store.runsOf(storyId);
      if (summaries.length === 0) return err(unknownStory(storyId));
      for (const { id } of openFirst(summaries).slice(0, LOOKED_THROUGH)) {
        const story = await stories.ofRun(id);
        if (story === undefined) continue;
        return reaches(principal, story) ? ok(story) : err(unknownStory(storyId));
      }
      return principal.kind === "agent" ? err(unknownStory(storyId)) : ok(undefined);
    },
    async require(storyId, principal) {
      const found = await stories.find(storyId, principal);
      if (!found.ok) return found;
      return found.value === undefined
        ? err({ code: "story_not_found", detail: `${JSON.stringify(storyId)} is in no flow that has handoffs.` })
        : ok(found.value);
    },
    async ofRun(runId) {
      const stored = await store.loadRun(runId);
      if (stored === undefined) return undefined;
      const resolved = await flowOf(store, stored.run);
      return isStoryFlow(resolved.flow) ? { run: stored.run, resolved } : undefined;
    },
    async open() {
      const found: Story[] = [];
      for (const status of ["running", "waiting", "stopped"] as const) {
        for (const { id } of await store.listRuns({ status, limit: OPEN_AT_MOST })) {
          const story = await stories.ofRun(id);
          if (story !== undefined) found.push(story);
        }
      }
      return found.toSorted((a, b) => a.run.createdAt.localeCompare(b.run.createdAt));
    },
    async rows(query) {
      const rows = await store.handoffRows(query);
      const kept = await Promise.all(rows.map(async (row) => isStoryFlow((await flowOf(store, row)).flow)));
      return rows.filter((_, index) => kept[index]);
    },
    async rowsOf(run) {
      return (await store.handoffRows({ subjectId: run.subject.id })).filter(({ runId }) => runId === run.id);
    },
    async state({ run, resolved }) {
      return storyState(resolved.flow, await stories.rowsOf(run), askingAgents(resolved.flow, run));
    },
    async show(rows) {
      const runs = new Map(
        await Promise.all(
          // A pending handoff has no receiver's payload yet.
          [...new Set(rows.flatMap(({ runId, state }) => (state === "pending" ? [] : [runId])))].map(
            async (runId) => [runId, acceptedWith(await store.attempts(runId))] as const,
          ),
        ),
      );
      return rows.map((row) => showHandoff(row, runs.get(row.runId)));
    },
  };
  return stories;
}

const OPEN_AT_MOST = 1000;

function unknownStory(storyId: string): Refusal {
  return {
    code: "story_not_found",
    detail: `There is no story ${JSON.stringify(storyId)}.`,
    hint: `POST /api/run {"action":"start","storyId":…} starts one`,
  };
}

/** The inbox item that the story waits for. */
export function inboxOf(run: Run): string | null {
  const [item] = openItems(run);
  return item === undefined ? null : `${run.id}.${item.number}`;
}

/** Newest first, open ones before ended ones. */
function openFirst(summaries: readonly RunSummary[]): readonly RunSummary[] {
  const hasEnded = ({ status }: RunSummary) => status === "completed" || status === "canceled";
  return [...summaries.filter((each) => !hasEnded(each)), ...summaries.filter(hasEnded)];
}

/** The state of a story, for people and for `/api/run`. */
export async function describeStory(stories: Stories, story: Story) {
  const { run } = story;
  const { currentAgent, phase } = await stories.state(story);
  return {
    storyId: run.subject.id,
    run: run.id,
    flow: run.flow,
    status: run.status,
    paused: run.paused && !isEnded(run),
    currentAgent,
    phase,
  };
}
