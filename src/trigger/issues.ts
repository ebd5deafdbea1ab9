// Starts one run per labelled GitHub issue, once. Only authors with write access, or those in the settings' list, may start a run: anyone
// can open an issue. The text of an issue is data for the agent and nothing else.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import { type Gh, readJson } from "../ticket/intake/gh.ts";
import type { IssueSettings } from "../settings/triggers.ts";
import type { Look, Occurrence, TriggerSource } from "./source.ts";

const DEFAULT_EVERY = "5m";
const LISTED = 500;
const REMEMBERED = 10_000;
const TRUST_MS = 10 * 60_000;
const LOGIN = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/u;
const REPO = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/u;
const MAY_WRITE = new Set(["admin", "maintain", "write"]);

const listed = z.array(
  z.object({ number: z.int().positive(), author: z.object({ login: z.string().max(100) }).nullable() }),
);
const shown = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  url: z.string().max(500),
});

type ListedIssue = { readonly number: number; readonly author: string };

/** One watched label: its query and its cached state. */
type IssueWatch = {
  readonly settings: IssueSettings["github_issue"];
  readonly gh: Gh;
  /** Whether an author may start runs, cached for a while. */
  readonly trust: Map<string, { readonly may: boolean; readonly until: number }>;
  repo: string | undefined;
};

export function createIssues({ github_issue: settings }: IssueSettings, ask: Gh): TriggerSource {
  const stop = new AbortController();
  const gh: Gh = (args) => ask(args, stop.signal);
  const watch: IssueWatch = { settings, gh, trust: new Map(), repo: settings.repo };
  return {
    close: () => stop.abort(),
    kind: "issue",
    about: `${settings.repo ?? "this repository"}, label ${settings.label}`,
    look: (seen, now) => look(watch, handledIn(seen), now),
    async byHand(now): Promise<Result<Occurrence>> {
      const picked = await pick(watch, new Set(), now);
      if (!picked.ok) return picked;
      const newest = picked.value.fit.at(-1);
      if (newest === undefined)
        return err({
          code: "no_issue",
          message: `There is no open issue with the label ${settings.label} that may start a run.`,
        });
      return occurrenceOf(watch, picked.value.repo, newest);
    },
    async explain(seen, now) {
      const handled = handledIn(seen);
      const picked = await pick(watch, new Set(handled), now);
      if (!picked.ok) return picked;
      const { repo: name, fit, notes } = picked.value;
      const starts = fit.map(({ number, author }) => `would start: ${name}#${number} of ${author}`);
      return ok([...starts, ...notes, `${handled.length} issue(s) have had their run`]);
    },
  };
}

async function look(watch: IssueWatch, handled: readonly number[], now: Date): Promise<Result<Look>> {
  const everyMs = durationMs(watch.settings.every ?? DEFAULT_EVERY);
  const picked = await pick(watch, new Set(handled), now);
  if (!picked.ok) return picked;
  const { repo: name, fit, notes } = picked.value;
  const [first] = fit;
  if (first === undefined) return ok({ occurrence: null, seen: { handled }, againMs: everyMs, notes });
  const occurrence = await occurrenceOf(watch, name, first);
  if (!occurrence.ok) return occurrence;
  const next = [...handled, first.number].slice(-REMEMBERED);
  return ok({ occurrence: occurrence.value, seen: { handled: next }, againMs: fit.length > 1 ? 0 : everyMs, notes });
}

type Picked = { readonly repo: string; readonly fit: readonly ListedIssue[]; readonly notes: readonly string[] };

/** The open issues that may start a run, oldest first, and a note for each that may not. */
async function pick(watch: IssueWatch, handled: ReadonlySet<number>, now: Date): Promise<Result<Picked>> {
  const name = await repository(watch);
  if (!name.ok) return name;
  const issues = await openIssues(watch, name.value);
  if (!issues.ok) return issues;
  const fit: ListedIssue[] = [];
  const notes: string[] = [];
  for (const issue of issues.value) {
    if (handled.has(issue.number)) continue;
    if (await mayStart(watch, name.value, issue.author, now)) fit.push(issue);
    else notes.push(strange(name.value, issue, watch.settings.authors !== undefined));
  }
  return ok({ repo: name.value, fit, notes });
}

async function repository(watch: IssueWatch): Promise<Result<string>> {
  if (watch.repo !== undefined) return ok(watch.repo);
  const printed = await watch.gh(["repo", "view", "--json", "nameWithOwner", "--jq", ".nameWithOwner"]);
  if (!printed.ok) return printed;
  const name = printed.value.trim();
  if (!REPO.test(name)) return err(unreadable("the name of the repository"));
  watch.repo = name;
  return ok(name);
}

async function openIssues({ gh, settings }: IssueWatch, name: string): Promise<Result<readonly ListedIssue[]>> {
  const args = ["issue", "list", `--repo=${name}`, `--label=${settings.label}`, "--state=open", `--limit=${LISTED}`];
  const printed = await readJson(gh, [...args, "--json", "number,author"]);
  if (!printed.ok) return printed;
  const issues = listed.safeParse(printed.value);
  if (!issues.success) return err(unreadable("the list of issues"));
  const found = issues.data.map(({ number, author }) => ({ number, author: author?.login ?? "" }));
  return ok(found.sort((a, b) => a.number - b.number));
}

async function mayStart(
  { gh, settings, trust }: IssueWatch,
  name: string,
  author: string,
  now: Date,
): Promise<boolean> {
  const login = author.toLowerCase();
  if (settings.authors !== undefined) return settings.authors.some((allowed) => allowed.toLowerCase() === login);
  if (!LOGIN.test(author)) return false;
  const known = trust.get(login);
  if (known !== undefined && known.until > now.getTime()) return known.may;
  const printed = await gh(["api", `repos/${name}/collaborators/${author}/permission`, "--jq", ".permission"]);
  // An author whom GitHub does not confirm is untrusted.
  const may = printed.ok && MAY_WRITE.has(printed.value.trim());
  trust.set(login, { may, until: now.getTime() + TRUST_MS });
  return may;
}

async function occurrenceOf(
  { gh }: IssueWatch,
  name: string,
  { number, author }: ListedIssue,
): Promise<Result<Occurrence>> {
  const args = ["issue", "view", String(number), `--repo=${name}`, "--json", "number,title,body,url"];
  const printed = await readJson(gh, args);
  if (!printed.ok) return printed;
  const issue = shown.safeParse(printed.value);
  if (!issue.success || issue.data.number !== number) return err(unreadable(`issue ${number}`));
  const { title, body, url } = issue.data;
  return ok({
    id: `${name}#${number}`,
    mark: String(number),
    title: "{issue.title}",
    body: body ?? "",
    values: { "issue.number": String(number), "issue.title": title, "issue.url": url, "issue.author": author },
    facts: { issue: { repo: name, number, url, author } },
  });
}

function strange(name: string, { number, author }: ListedIssue, isListed: boolean): string {
  const why = isListed ? "is not on the list of authors" : "has no write access";
  return `left out: ${name}#${number}, because ${author === "" ? "its author" : author} ${why}`;
}

function handledIn(seen: Json | null): readonly number[] {
  const handled = seen !== null && typeof seen === "object" && "handled" in seen ? seen["handled"] : [];
  return Array.isArray(handled) ? handled.filter((each): each is number => typeof each === "number") : [];
}

function unreadable(what: string) {
  return { code: "gh_unreadable", message: `gh printed ${what} in a form that is not understood.` };
}
