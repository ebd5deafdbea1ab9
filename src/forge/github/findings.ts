// The objections to a pull request: reviewers who ask for changes and failed checks of its head, in their original words. A check that was
// cut off (canceled, timed out, never began) is not the work's fault: Passrail runs it once more, then notifies people.

import { createHash } from "node:crypto";
import { excerptOf } from "../../core/prompt/excerpt.ts";
import type { Issue } from "../../core/flow/outcome.ts";
import { ok, type Result } from "../../core/result.ts";
import type { PullRequestState } from "../forge.ts";
import type { CheckRun, GitHubApi, PullRequestReview } from "./api.ts";

/** Anyone may review a public repository; these may write to it. */
const TRUSTED: ReadonlySet<string> = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);
const FAILED: ReadonlySet<string> = new Set(["failure", "action_required"]);
const CUT_OFF: ReadonlySet<string> = new Set(["cancelled", "timed_out", "startup_failure", "stale"]);
const TEXT_CHARS = 4000;
const MAX_ISSUES = 30;

type Finding = { readonly id: string; readonly issues: readonly Issue[]; readonly about: string };

export async function findingsOf(api: GitHubApi, number: number, head: string): Promise<Result<PullRequestState>> {
  const reviews = await reviewFindings(api, number, head);
  if (!reviews.ok) return reviews;
  const checks = await checkFindings(api, head);
  if (!checks.ok) return checks;
  const found = [...reviews.value, ...checks.value.findings];
  if (found.length === 0 || (checks.value.isWorking && reviews.value.length === 0))
    return ok({ state: "open", note: checks.value.note });
  const key = createHash("sha256")
    .update([head, ...found.map(({ id }) => id).toSorted()].join("\n"))
    .digest("hex");
  return ok({
    state: "revise",
    issues: found.flatMap(({ issues }) => issues).slice(0, MAX_ISSUES),
    summary: found
      .map(({ about }) => about)
      .join("; ")
      .slice(0, 500),
    key: key.slice(0, 24),
  });
}

/** Only reviews of the current commit: reviews of an earlier one were reported and worked on. */
async function reviewFindings(api: GitHubApi, number: number, head: string): Promise<Result<readonly Finding[]>> {
  const reviews = await api.reviews(number);
  if (!reviews.ok) return reviews;
  const last = new Map<string, PullRequestReview>();
  for (const review of reviews.value) {
    const isWord = review.state === "CHANGES_REQUESTED" || review.state === "APPROVED" || review.state === "DISMISSED";
    if (isWord && TRUSTED.has(review.author_association ?? "")) last.set(review.user?.login ?? "", review);
  }
  const found: Finding[] = [];
  for (const [login, review] of last) {
    if (review.state !== "CHANGES_REQUESTED" || review.commit_id !== head) continue;
    const comments = await api.comments(number, review.id);
    if (!comments.ok) return comments;
    const issues = comments.value.map((comment): Issue => {
      const line = comment.line ?? comment.original_line;
      return {
        severity: "major",
        description: said(comment.body),
        ...(comment.path == null ? {} : { file: comment.path.slice(0, 500) }),
        ...(line == null || line < 1 ? {} : { line }),
      };
    });
    const whole = said(review.body);
    const general: Issue[] = whole === "" ? [] : [{ severity: "major", description: whole }];
    const all = [...general, ...issues];
    const about = `${login} asks for changes`;
    found.push({ id: `review ${review.id}`, issues: all.length === 0 ? [about] : all, about });
  }
  return ok(found);
}

type Checks = { readonly findings: readonly Finding[]; readonly note: string | null; readonly isWorking: boolean };

async function checkFindings(api: GitHubApi, head: string): Promise<Result<Checks>> {
  const runs = await api.checkRuns(head);
  if (!runs.ok) return runs;
  const statuses = await api.statuses(head);
  if (!statuses.ok) return statuses;
  const findings: Finding[] = [];
  const notes: string[] = [];
  for (const tries of byName(runs.value)) {
    const last = tries.at(-1);
    if (last === undefined || last.status !== "completed") continue;
    if (FAILED.has(last.conclusion ?? "")) findings.push(await failedCheck(api, last));
    else if (CUT_OFF.has(last.conclusion ?? "")) notes.push(await cutOff(api, last, tries.length));
  }
  for (const { id, context, state, description, target_url } of statuses.value) {
    if (state !== "failure" && state !== "error") continue;
    const link = target_url == null ? "" : ` (${target_url.slice(0, 300)})`;
    const text = `The check "${name(context)}" failed: ${said(description)}${link}`;
    findings.push({
      id: `status ${id}`,
      issues: [{ severity: "major", description: text }],
      about: `${name(context)} failed`,
    });
  }
  const isWorking = runs.value.some(({ status }) => status === "in_progress");
  return ok({ findings, note: notes.length === 0 ? null : notes.join("; "), isWorking });
}

/** The tries of each check, oldest first. */
function byName(runs: readonly CheckRun[]): readonly (readonly CheckRun[])[] {
  const groups = new Map<string, CheckRun[]>();
  for (const run of runs.toSorted((one, other) => one.id - other.id)) {
    const key = `${run.app?.slug ?? ""}\0${run.name}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}

async function failedCheck(api: GitHubApi, run: CheckRun): Promise<Finding> {
  const log = isAction(run) ? await api.log(run.id) : undefined;
  const text =
    log === undefined ? [said(run.output?.title), said(run.output?.summary)].join("\n").trim() : failedPart(log);
  const about = `${name(run.name)} failed`;
  const end = text === "" ? " It says nothing about why." : ` The end of its log:\n${text}`;
  const description = `The check "${name(run.name)}" failed.${end}`;
  return { id: `check ${run.id}`, issues: [{ severity: "major", description }], about };
}

async function cutOff(api: GitHubApi, run: CheckRun, tries: number): Promise<string> {
  const what = `the check "${name(run.name)}" was cut off (${run.conclusion ?? ""}), which is not the work's fault`;
  if (!isAction(run)) return `${what}; run it again there`;
  if (tries > 1) return `${what}, also when it was run again; look at it there`;
  const again = await api.rerun(run.id);
  return again.ok ? `${what}; it is run again` : `${what}; it could not be run again: ${again.error.message}`;
}

function isAction(run: CheckRun): boolean {
  return run.app?.slug === "github-actions";
}

/** Ends at the last line that the runner marks as an error; cleanup follows it. Leading timestamps are dropped. */
function failedPart(log: string): string {
  const end = log.lastIndexOf("##[error]");
  const line = end === -1 ? -1 : log.indexOf("\n", end);
  const part = line === -1 ? log : log.slice(0, line);
  const lines = part.slice(-200_000).split("\n");
  return excerptOf(lines.map((each) => each.replace(/^\uFEFF?[0-9]{4}-[0-9T:.-]{10,30}Z /u, "")).join("\n"));
}

function said(text: string | null | undefined): string {
  return excerptOf((text ?? "").slice(0, TEXT_CHARS));
}

function name(text: string): string {
  return text.slice(0, 100).replace(/[\p{Cc}\p{Cf}"]+/gu, " ");
}
