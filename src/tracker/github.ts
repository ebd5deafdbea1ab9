// Issues of a GitHub repository, through `gh` or with GITHUB_TOKEN. An issue there is open or closed; a state of any other name is a label.

import { z } from "zod";
import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";
import type { GitHubTransport } from "../forge/github/transport.ts";
import { shown } from "./ask.ts";
import { type Tracker, UNAVAILABLE } from "./tracker.ts";

export type GitHubOptions = {
  /** owner/name, checked. */
  readonly repo: string;
  readonly states: TrackedStates;
  readonly transport: () => Promise<Result<GitHubTransport>>;
};

const OPEN = "open";
const CLOSED = "closed";
const NOT_PLANNED = "not planned";
const WORDS: ReadonlySet<string> = new Set([OPEN, CLOSED, NOT_PLANNED]);
const PAGE = 100;

const issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  state: z.enum(["open", "closed"]),
  state_reason: z.string().nullish(),
  labels: z.array(z.object({ name: z.string() })),
  pull_request: z.unknown().optional(),
});
type Issue = z.infer<typeof issue>;

export function createGitHub({ repo, states, transport }: GitHubOptions): Tracker {
  /** The labels that stand for a state; others are people's. */
  const marks = new Set(Object.values(states).filter((name) => !WORDS.has(name)));

  async function ask<T>(answer: z.ZodType<T>, method: "GET" | "PATCH", path: string, body?: Json): Promise<Result<T>> {
    const open = await transport();
    if (!open.ok) return open;
    const got = await open.value.request(method, `repos/${repo}/${path}`, body);
    if (!got.ok) return err({ code: UNAVAILABLE, message: got.error.message });
    const { status, text } = got.value;
    if (status === 429 || status >= 500) return err({ code: UNAVAILABLE, message: `GitHub answered ${status}.` });
    if (status >= 300) return err({ code: "tracker_refused", message: `GitHub refused (${status}): ${shown(text)}` });
    const read = answer.safeParse(parsed(text));
    return read.success
      ? ok(read.data)
      : err({ code: "tracker_answer", message: "GitHub's answer is not understood." });
  }

  const stateOf = ({ state, state_reason, labels }: Issue): IssueState => {
    if (state === "closed")
      return state_reason === "not_planned" ? { name: NOT_PLANNED, kind: "canceled" } : { name: CLOSED, kind: "done" };
    const mark = labels.find(({ name }) => marks.has(name));
    return mark === undefined ? { name: OPEN, kind: "open" } : { name: mark.name, kind: "started" };
  };

  return {
    origin: `github:${repo}`,
    states,
    async waiting({ label, limit }) {
      const query = new URLSearchParams({
        state: "open",
        sort: "created",
        direction: "asc",
        per_page: String(Math.min(limit, PAGE)),
        ...(label === undefined ? {} : { labels: label }),
      });
      const found = await ask(z.array(issue), "GET", `issues?${query.toString()}`);
      if (!found.ok) return found;
      return ok(
        found.value
          .filter((each) => each.pull_request === undefined && stateOf(each).kind === "open")
          .map(({ number, title, body, labels, html_url }) => ({
            id: String(number),
            title,
            body: body ?? "",
            labels: labels.map(({ name }) => name),
            url: html_url,
          })),
      );
    },
    async statesOf(ids) {
      const seen = new Map<string, IssueState>();
      for (const id of ids.filter((each) => /^[1-9][0-9]{0,9}$/u.test(each))) {
        const found = await ask(issue, "GET", `issues/${id}`);
        if (found.ok) seen.set(id, stateOf(found.value));
        else if (found.error.code === UNAVAILABLE) return found;
      }
      return ok(seen);
    },
    async move(id, to) {
      const now = await ask(issue, "GET", `issues/${id}`);
      if (!now.ok) return now;
      const kept = now.value.labels.map(({ name }) => name).filter((name) => !marks.has(name));
      const isClosed = to === CLOSED || to === NOT_PLANNED;
      const moved = await ask(issue, "PATCH", `issues/${id}`, {
        state: isClosed ? "closed" : "open",
        ...(isClosed ? { state_reason: to === CLOSED ? "completed" : "not_planned" } : {}),
        labels: WORDS.has(to) ? kept : [...kept, to],
      });
      return moved.ok ? ok(null) : moved;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
