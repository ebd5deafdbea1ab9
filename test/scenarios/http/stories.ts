// Stories that agents outside work on, over the API alone: short names for the calls of source 003.

import type { HandoffRowShown } from "../../../src/http/contract/schemas/handoff-row.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { type CallOptions, type Reply, type Served, serve } from "./served.ts";
import { optional } from "../../../src/core/optional.ts";

export const PLAN = { plan: "p", files_to_modify: [], approach: "a", risks: [], questions_resolved: [] };
export const CODE = { files_changed: ["a.ts"], summary: "s", tests_added: ["t"], build_passes: true, discoveries: {} };
export const REVIEW = { approved: true, files_changed: ["a.ts"], discoveries: {}, review_notes: "fine" };

/** The way of a story, with what each agent hands over. */
export const WAY: readonly (readonly [from: string, to: string, payload: JsonObject])[] = [
  ["analyst", "implementer", PLAN],
  ["implementer", "reviewer", CODE],
  ["reviewer", "refactorer", REVIEW],
  ["refactorer", "documenter", {}],
  ["documenter", "orchestrator", {}],
];

export type State = { currentAgent: string | null; phase: string | null; handoffs: HandoffRowShown[] };

export type World = {
  readonly served: Served;
  /** What the server takes for now; the engine has the real time. */
  nowMs: () => number;
  /** A story that only agents outside work on; its id. */
  newStory(facts?: JsonObject): Promise<string>;
  runOf(storyId: string): Promise<string>;
  post(body: unknown, options?: CallOptions): Promise<Reply>;
  create(storyId: string, from: string, to: string, payload?: unknown): Promise<Reply>;
  state(storyId: string): Promise<State>;
  /** Hands the story on until it is with this agent. */
  leadTo(storyId: string, agent: string): Promise<HandoffRowShown>;
  /** The app forgets what it had in memory. */
  restart(): void;
  close(): Promise<void>;
};

export async function openWorld(): Promise<World> {
  const served = await serve();
  let stories = 0;
  const outside = { runners: { "*": { runner: "outside" } } };
  const world: World = {
    served,
    nowMs: () => Date.now(),
    async newStory(facts = outside) {
      stories += 1;
      const subject = `v0.1:${stories}.1.1`;
      await served.bench.run(
        "story",
        {},
        { subject, title: `Story ${stories}`, body: "As a user …", facts, wait: false },
      );
      return subject;
    },
    async runOf(storyId) {
      const [run] = await served.deps.store.runsOf(storyId);
      return run?.id ?? "";
    },
    post: (body, options = {}) => served.call("POST", "/api/handoffs", { body, ...options }),
    create: (storyId, fromAgent, toAgent, payload) =>
      world.post({ action: "create", storyId, fromAgent, toAgent, ...optional({ payload }) }),
    async state(storyId) {
      const reply = await served.call("GET", `/api/handoffs?storyId=${encodeURIComponent(storyId)}`);
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
      return reply.body as unknown as State;
    },
    async leadTo(storyId, agent) {
      for (const [from, to, payload] of WAY) {
        const { handoffs } = await world.state(storyId);
        const last = handoffs.at(-1);
        if (last?.to_agent === agent) return last;
        const reply = await world.create(storyId, from, to, payload);
        if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
      }
      const last = (await world.state(storyId)).handoffs.at(-1);
      if (last?.to_agent !== agent) throw new Error(`the story does not come to ${agent}`);
      return last;
    },
    restart() {
      served.app = createApp(deps, { port: 4321 });
    },
    close: () => served.close(),
  };
  const now = () => new Date(world.nowMs()).toISOString();
  const deps = {
    ...served.deps,
    now,
    app: served.useCases({ now, ...outside }),
    attemptOf: (token: string) => served.attempts.get(token) ?? served.bench.passrail.engine.attemptOf(token),
  };
  world.restart();
  return world;
}

export function rowOf(reply: Reply, key = "handoff"): HandoffRowShown {
  return reply.body[key] as HandoffRowShown;
}
