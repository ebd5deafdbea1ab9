// Linear over its GraphQL API. Written from the published schema; tested against a local stand-in that follows it.
// https://linear.app/developers/graphql

import { z } from "zod";
import { err, ok, type Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";
import { askTracker, readPages, shown } from "./ask.ts";
import type { TrackedIssue, Tracker } from "./tracker.ts";

export type LinearOptions = {
  readonly url: string;
  /** The team's key: ENG. */
  readonly team: string;
  readonly states: TrackedStates;
  readonly key: () => Result<string>;
};

const KINDS: Readonly<Record<string, IssueState["kind"]>> = {
  triage: "open",
  backlog: "open",
  unstarted: "open",
  started: "started",
  completed: "done",
  canceled: "canceled",
  duplicate: "canceled",
};

const state = z.object({ name: z.string(), type: z.string() });
const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });
const waitingPage = z.object({
  issues: z.object({
    nodes: z.array(
      z.object({
        identifier: z.string(),
        title: z.string(),
        description: z.string().nullish(),
        url: z.string(),
        createdAt: z.string(),
        labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
      }),
    ),
    pageInfo,
  }),
});
type Waiting = z.infer<typeof waitingPage>["issues"]["nodes"][number];
const current = z.object({ issues: z.object({ nodes: z.array(z.object({ identifier: z.string(), state })) }) });

// Linear counts points: every object costs one, and a list multiplies what is below it by its length.
const WAITING = `query Waiting($filter: IssueFilter!, $first: Int!, $after: String) {
  issues(filter: $filter, first: $first, after: $after) {
    nodes { identifier title description url createdAt labels(first: 20) { nodes { name } } }
    pageInfo { hasNextPage endCursor }
  }
}`;
const CURRENT = `query Current($filter: IssueFilter!, $first: Int!) {
  issues(filter: $filter, first: $first) { nodes { identifier state { name type } } }
}`;
const STATES = `query States($filter: WorkflowStateFilter!, $first: Int!) {
  workflowStates(filter: $filter, first: $first) { nodes { id name } }
}`;
const MOVE = `mutation Move($id: String!, $stateId: String!) { issueUpdate(id: $id, input: { stateId: $stateId }) { success } }`;

const PAGE = 100;

export function createLinear({ url, team, states, key }: LinearOptions): Tracker {
  async function ask<T>(query: string, variables: object, answer: z.ZodType<T>): Promise<Result<T>> {
    const secret = key();
    if (!secret.ok) return secret;
    const reply = z.object({
      data: z.unknown(),
      errors: z.array(z.object({ message: z.string() })).optional(),
    });
    const authorization = secret.value;
    const body = { query, variables };
    const got = await askTracker({ name: "Linear", url, method: "POST", authorization, body, answer: reply, isBusy });
    if (!got.ok) return got;
    const [fault] = got.value.errors ?? [];
    if (fault !== undefined)
      return err({ code: "tracker_refused", message: `Linear refused: ${shown(fault.message)}` });
    const read = answer.safeParse(got.value.data);
    return read.success
      ? ok(read.data)
      : err({ code: "tracker_answer", message: "Linear's answer is not understood." });
  }

  const ours = { team: { key: { eq: team } } };
  return {
    origin: `linear:${team}`,
    states,
    async waiting({ label, limit }) {
      const filter = {
        ...ours,
        state: { type: { in: Object.keys(KINDS).filter((type) => KINDS[type] === "open") } },
        ...(label === undefined ? {} : { labels: { name: { eq: label } } }),
      };
      const found = await readPages<Waiting, string>(async (after) => {
        const got = await ask(WAITING, { filter, first: PAGE, after: after ?? null }, waitingPage);
        if (!got.ok) return got;
        const { nodes, pageInfo: page } = got.value.issues;
        return ok({ items: nodes, next: page.hasNextPage ? (page.endCursor ?? undefined) : undefined });
      });
      if (!found.ok) return found;
      return ok(oldest(found.value, limit));
    },
    async statesOf(ids) {
      const seen = new Map<string, IssueState>();
      for (let at = 0; at < ids.length; at += PAGE) {
        const numbers = ids.slice(at, at + PAGE).flatMap((id) => numberOf(id, team));
        const found = await ask(CURRENT, { filter: { ...ours, number: { in: numbers } }, first: PAGE }, current);
        if (!found.ok) return found;
        for (const { identifier, state: now } of found.value.issues.nodes)
          seen.set(identifier, { name: now.name, kind: KINDS[now.type] ?? "started" });
      }
      return ok(seen);
    },
    async move(id, to) {
      const known = z.object({
        workflowStates: z.object({ nodes: z.array(z.object({ id: z.string(), name: z.string() })) }),
      });
      const found = await ask(STATES, { filter: ours, first: PAGE }, known);
      if (!found.ok) return found;
      const { nodes } = found.value.workflowStates;
      const target = nodes.find(({ name }) => name.toLowerCase() === to.toLowerCase());
      if (target === undefined)
        return err({
          code: "tracker_state",
          message: `Linear's team ${team} has no state "${to}"; it has ${nodes.map(({ name }) => shown(name)).join(", ")}.`,
        });
      const done = z.object({ issueUpdate: z.object({ success: z.boolean() }) });
      const moved = await ask(MOVE, { id, stateId: target.id }, done);
      if (!moved.ok) return moved;
      return moved.value.issueUpdate.success
        ? ok(null)
        : err({ code: "tracker_refused", message: `Linear did not move ${id}.` });
    },
  };
}

/** Linear lists the newest first, and its other orders are its own. */
function oldest(issues: readonly Waiting[], limit: number): readonly TrackedIssue[] {
  const sorted = issues.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  return sorted.slice(0, limit).map(({ identifier, title, description, url, labels }) => ({
    id: identifier,
    title,
    body: description ?? "",
    labels: labels.nodes.map(({ name }) => name),
    url,
  }));
}

const refusal = z.object({ errors: z.array(z.object({ extensions: z.object({ code: z.string() }) })) });

/** Linear answers 400 to too many requests. */
function isBusy(text: string): boolean {
  try {
    const read = refusal.safeParse(JSON.parse(text));
    return read.success && read.data.errors.some(({ extensions }) => extensions.code === "RATELIMITED");
  } catch {
    return false;
  }
}

function numberOf(id: string, team: string): readonly number[] {
  const digits = new RegExp(`^${team}-([1-9][0-9]{0,8})$`, "u").exec(id)?.[1];
  return digits === undefined ? [] : [Number(digits)];
}
