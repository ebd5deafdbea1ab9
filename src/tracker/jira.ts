// Jira Cloud over its REST API, version 3. Written from the published description; tested against a local stand-in that follows it.
// https://developer.atlassian.com/cloud/jira/platform/rest/v3/

import { z } from "zod";
import { err, ok, type Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";
import { documentText } from "./atlassian-document.ts";
import { askTracker, shown } from "./ask.ts";
import type { Tracker } from "./tracker.ts";

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
const page = z.object({
  issues: z.array(
    z.object({
      key: z.string(),
      fields: z.object({
        summary: z.string(),
        description: z.unknown(),
        labels: z.array(z.string()).default([]),
        status,
        resolution: z.object({ name: z.string() }).nullish(),
      }),
    }),
  ),
});
const transitions = z.object({
  transitions: z.array(z.object({ id: z.string(), to: z.object({ name: z.string() }) })),
});

const FIELDS = ["summary", "description", "labels", "status", "resolution"];
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
    return askTracker({ name: "Jira", url, method, authorization, answer, ...(body === undefined ? {} : { body }) });
  }

  const search = (jql: string, maxResults: number) =>
    ask("POST", "search/jql", page, { jql, maxResults, fields: FIELDS });

  return {
    origin: `jira:${project}`,
    states,
    async waiting({ label, limit }) {
      const labelled = label === undefined ? "" : ` AND labels = ${quoted(label)}`;
      const jql = `project = ${quoted(project)} AND statusCategory = "To Do"${labelled} ORDER BY created ASC`;
      const found = await search(jql, Math.min(limit, PAGE));
      if (!found.ok) return found;
      return ok(
        found.value.issues.map(({ key: id, fields }) => ({
          id,
          title: fields.summary,
          body: documentText(fields.description),
          labels: fields.labels,
          url: `${site}/browse/${id}`,
        })),
      );
    },
    async statesOf(ids) {
      const seen = new Map<string, IssueState>();
      const own = ids.filter((id) => isKeyOf(id, project));
      for (let at = 0; at < own.length; at += PAGE) {
        const found = await search(`key in (${own.slice(at, at + PAGE).join(", ")})`, PAGE);
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
      const way = ways.find((each) => each.to.name.toLowerCase() === to.toLowerCase());
      if (way === undefined)
        return err({
          code: "tracker_state",
          message: `Jira offers no way from ${id} to "${to}"; it offers ${ways.map((each) => shown(each.to.name)).join(", ")}.`,
        });
      const moved = await ask("POST", `issue/${id}/transitions`, z.unknown(), { transition: { id: way.id } });
      return moved.ok ? ok(null) : moved;
    },
  };
}

function stateOf({
  status: { name, statusCategory },
  resolution,
}: z.infer<typeof page>["issues"][number]["fields"]): IssueState {
  if (statusCategory.key === "done") return { name, kind: NOT_DONE.test(resolution?.name ?? "") ? "canceled" : "done" };
  return { name, kind: statusCategory.key === "indeterminate" ? "started" : "open" };
}

function isKeyOf(id: string, project: string): boolean {
  return id.startsWith(`${project}-`) && /^[A-Z][A-Z0-9_]{1,20}-[1-9][0-9]{0,8}$/u.test(id);
}

/** A text of JQL. Settings and flags come from the user; a quote must stay a quote all the same. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
