// Issues of a GitHub repository, through `gh` or with GITHUB_TOKEN. An issue there is open or closed; a state of any other name is a label.

import { z } from "zod";
import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";
import type { GitHubTransport } from "../forge/github/transport.ts";
import { readPages, shown } from "./ask.ts";
import { type Tracker, UNAVAILABLE } from "./tracker.ts";
import { optional } from "../core/optional.ts";

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
/** Ended, but not done. */
const NOT_DONE: ReadonlySet<string> = new Set(["not_planned", "duplicate"]);
const PAGE = 100;
/** More than these are read as a list of all open issues. */
const MOST_SINGLE = 10;

const issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  state: z.enum(["open", "closed"]),
  state_reason: z.string().nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])).transform(namesOf),
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
      return NOT_DONE.has(state_reason ?? "")
        ? { name: NOT_PLANNED, kind: "canceled" }
        : { name: CLOSED, kind: "done" };
    const mark = labels.find((name) => marks.has(name));
    return mark === undefined ? { name: OPEN, kind: "open" } : { name: mark, kind: "started" };
  };

  return {
    origin: `github:${repo}`,
    states,
    async waiting({ label, limit }) {
      const isWaiting = (each: Issue): boolean => stateOf(each).kind === "open";
      const found = await listOpen(ask, label, (all) => all.filter(isWaiting).length >= limit);
      if (!found.ok) return found;
      return ok(
        found.value
          .filter(isWaiting)
          .slice(0, limit)
          .map(({ number, title, body, labels, html_url }) => ({
            id: String(number),
            title,
            body: body ?? "",
            labels,
            url: html_url,
          })),
      );
    },
    async statesOf(ids) {
      const seen = new Map<string, IssueState>();
      const wanted = ids.filter((each) => /^[1-9][0-9]{0,9}$/u.test(each));
      if (wanted.length > MOST_SINGLE) {
        const found = await listOpen(ask, undefined, () => false);
        if (!found.ok) return found;
        const asked = new Set(wanted);
        for (const each of found.value.filter(({ number }) => asked.has(String(number))))
          seen.set(String(each.number), stateOf(each));
      }
      for (const id of wanted.filter((each) => !seen.has(each))) {
        const found = await ask(issue, "GET", `issues/${id}`);
        if (found.ok) seen.set(id, stateOf(found.value));
        else if (found.error.code === UNAVAILABLE) return found;
      }
      return ok(seen);
    },
    async move(id, to) {
      const now = await ask(issue, "GET", `issues/${id}`);
      if (!now.ok) return now;
      const kept = now.value.labels.filter((name) => !marks.has(name));
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

type Ask = <T>(answer: z.ZodType<T>, method: "GET", path: string) => Promise<Result<T>>;

/** Oldest first. GitHub lists pull requests among the issues. */
function listOpen(
  ask: Ask,
  label: string | undefined,
  isEnough: (found: readonly Issue[]) => boolean,
): Promise<Result<readonly Issue[]>> {
  return readPages<Issue, number>(async (page = 1) => {
    const query = new URLSearchParams({
      state: "open",
      sort: "created",
      direction: "asc",
      per_page: String(PAGE),
      page: String(page),
      ...optional({ labels: label }),
    });
    const found = await ask(z.array(issue), "GET", `issues?${query.toString()}`);
    if (!found.ok) return found;
    const items = found.value.filter((each) => each.pull_request === undefined);
    return ok({ items, next: found.value.length < PAGE ? undefined : page + 1 });
  }, isEnough);
}

function namesOf(labels: readonly (string | { readonly name?: string | null | undefined })[]): readonly string[] {
  return labels.flatMap((label) => (typeof label === "string" ? label : (label.name ?? [])));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
