// Jira Cloud over its REST API, version 3. Written from the published description; tested against a local stand-in that follows it.
// https://developer.atlassian.com/cloud/jira/platform/rest/v3/

import { z } from "zod";
import { err, ok, type Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";
import { documentText } from "./atlassian-document.ts";
import { askTracker, readPages, shown } from "./ask.ts";
import type { Tracker } from "./tracker.ts";
import { optional } from "../core/optional.ts";

export type JiraOptions = {
  /** https://acme.atlassian.net */
  readonly site: string;
  /** The project's key: SHOP. */
  readonly project: string;
  /** The mail address of the key's owner. */
  readonly user: string;
  readonly states: TrackedStates;
  readonly key: () => Result<string>;
};

const status = z.object({ name: z.string(), statusCategory: z.object({ key: z.string() }) });
const waitingPage = z.object({
  issues: z
    .array(
      z.object({
        key: z.string(),
        fields: z.object({ summary: z.string(), description: z.unknown(), labels: z.array(z.string()).default([]) }),
      }),
    )
    .default([]),
  nextPageToken: z.string().nullish(),
});
const current = z.object({
  key: z.string(),
  fields: z.object({ status, resolution: z.object({ name: z.string() }).nullish() }),
});
const fetched = z.object({ issues: z.array(current).default([]) });
type Waiting = z.infer<typeof waitingPage>["issues"][number];
const transitions = z.object({
  transitions: z.array(z.object({ id: z.string(), to: z.object({ name: z.string() }) })),
});

const WAITING_FIELDS = ["summary", "description", "labels"];
const STATE_FIELDS = ["status", "resolution"];
/** The most that one call may ask for. */
const PAGE = 100;
/** Resolutions by which teams say that an issue was not done. */
const NOT_DONE = /won'?t|duplicate|declined|cancel|cannot reproduce|invalid/iu;

export function createJira({ site, project, user, states, key }: JiraOptions): Tracker {
  async function ask<T>(
    method: "GET" | "POST",
    path: string,
    answer: z.ZodType<T>,
    body?: unknown,
  ): Promise<Result<T>> {
    const secret = key();
    if (!secret.ok) return secret;
    const authorization = `Basic ${Buffer.from(`${user}:${secret.value}`).toString("base64")}`;
    const url = `${site}/rest/api/3/${path}`;
    return askTracker({ name: "Jira", url, method, authorization, answer, ...optional({ body }) });
  }

  return {
    origin: `jira:${project}`,
    states,
    async waiting({ label, limit }) {
      const labelled = label === undefined ? "" : ` AND labels = ${quoted(label)}`;
      const jql = `project = ${quoted(project)} AND statusCategory = "To Do"${labelled} ORDER BY created ASC`;
      const found = await readPages<Waiting, string>(
        async (nextPageToken) => {
          const body = { jql, maxResults: Math.min(limit, PAGE), fields: WAITING_FIELDS };
          const more = nextPageToken === undefined ? body : { ...body, nextPageToken };
          const got = await ask("POST", "search/jql", waitingPage, more);
          return got.ok ? ok({ items: got.value.issues, next: got.value.nextPageToken ?? undefined }) : got;
        },
        // Jira may put less on a page than it was asked for.
        (all) => all.length >= limit,
      );
      if (!found.ok) return found;
      return ok(
        found.value.slice(0, limit).map(({ key: id, fields }) => ({
          id,
          title: fields.summary,
          body: documentText(fields.description),
          labels: fields.labels,
          url: `${site}/browse/${id}`,
        })),
      );
    },
    /** Not by a search: that lags behind changes, and it refuses a list with a key that is gone. */
    async statesOf(ids) {
      const seen = new Map<string, IssueState>();
      const own = ids.filter((id) => isKeyOf(id, project));
      for (let at = 0; at < own.length; at += PAGE) {
        const body = { issueIdsOrKeys: own.slice(at, at + PAGE), fields: STATE_FIELDS };
        const found = await ask("POST", "issue/bulkfetch", fetched, body);
        if (!found.ok) return found;
        for (const { key: id, fields } of found.value.issues) seen.set(id, stateOf(fields));
      }
      return ok(seen);
    },
    async move(id, to) {
      if (!isKeyOf(id, project)) return err({ code: "tracker_refused", message: `${shown(id)} is not in ${project}.` });
      const found = await ask("GET", `issue/${id}/transitions`, transitions);
      if (!found.ok) return found;
      const ways = found.value.transitions;
      const isWanted = (name: string): boolean => name.toLowerCase() === to.toLowerCase();
      const way = ways.find((each) => isWanted(each.to.name));
      if (way === undefined) {
        // Few workflows have a way from a status to itself.
        const now = await ask("GET", `issue/${id}?fields=status`, z.object({ fields: z.object({ status }) }));
        if (!now.ok || isWanted(now.value.fields.status.name)) return now.ok ? ok(null) : now;
        return err({
          code: "tracker_state",
          message: `Jira offers no way from ${id} to "${to}"; it offers ${ways.map((each) => shown(each.to.name)).join(", ")}.`,
        });
      }
      const moved = await ask("POST", `issue/${id}/transitions`, z.unknown(), { transition: { id: way.id } });
      return moved.ok ? ok(null) : moved;
    },
  };
}

function stateOf({ status: { name, statusCategory }, resolution }: z.infer<typeof current>["fields"]): IssueState {
  if (statusCategory.key === "done") return { name, kind: NOT_DONE.test(resolution?.name ?? "") ? "canceled" : "done" };
  return { name, kind: statusCategory.key === "indeterminate" ? "started" : "open" };
}

function isKeyOf(id: string, project: string): boolean {
  return id.startsWith(`${project}-`) && /^[A-Z][A-Z0-9_]{1,20}-[1-9][0-9]{0,8}$/u.test(id);
}

/** A text of JQL. Settings and flags come from the user; a quote must still stay a quote. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
