// The builtin `land`: the approved commit leaves by the way that the flow and the settings name. Passrail reports work as done only after
// it has seen the commit in the remote branch or in the target. A person decides about everything else.

import { runFacts } from "../../core/run/facts.ts";
import { join } from "node:path";
import { mergeWay } from "../../core/ticket/merge-rule.ts";
import type { Report } from "../../core/flow/outcome.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import { markerOf, storeMark } from "../../attempt/attempt-files.ts";
import type { Builtin, BuiltinContext } from "../../attempt/builtins.ts";
import type { Forge } from "../../forge/forge.ts";
import type { MergeSettings } from "../../settings/merge.ts";
import { git, inRepository } from "../../git/git.ts";
import { findProject, findRepository, resolveCommits } from "../../git/repository.ts";
import { runChecks } from "./checks.ts";
import { describeWork } from "./describe.ts";
import { inTurn, type Landing, landWork } from "./queue.ts";
import { type Landed, landedPayload } from "../../core/ticket/landed.ts";
import { type Approved, approvedWork } from "./record.ts";

export type LandOptions = {
  readonly home: string;
  readonly settings: MergeSettings;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  /** Whether no other ticket builds on this one; called when its work is finished. */
  readonly isTerminal: (run: Run) => Promise<boolean>;
  /** The environment of the checks. */
  readonly environment: Readonly<Record<string, string>>;
  readonly redact: (text: string) => string;
  readonly url: () => string;
};

export function createLand(options: LandOptions): Builtin {
  return async (context) => {
    if (context.workspace.mode === "in-place") {
      const summary = "The run worked in the project's own folder; there is no branch to deliver.";
      return { structured: true, verdict: "pass", word: "in-place", summary };
    }
    const work = approvedWork(context.attempts);
    if (work === undefined) return reported({ ok: false, error: nothingApproved });
    const place = await findPlace(context, options, work);
    if (!place.ok) return reported(place);
    const { forge, target } = place.value;
    // One at a time per repository and target.
    return inTurn(`${forge.gitDir}\0${target}`, () => deliver(context, options, work, place.value));
  };
}

type PlaceOfWork = { readonly forge: Forge; readonly target: string };

async function deliver(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  { forge, target }: PlaceOfWork,
): Promise<Report> {
  const way = await wayOf(context, options);
  if (!way.ok) return reported(way);
  if (way.value === "push") {
    const pushed = await forge.push(work);
    if (!pushed.ok) return reported(pushed);
    const where = forge.name === "local" ? `stays as branch ${work.branch}` : `is pushed as ${work.branch}`;
    return left("pushed", `${work.commit} ${where}; other tickets build on it.`, recordOf(work, target, "push"));
  }
  const head = await forge.head(target);
  if (!head.ok) return reported(head);
  if (head.value !== null && (await holds(forge, head.value, work.commit)))
    return left("landed", `${target} holds ${work.commit} already.`, recordOf(work, target, "land"));
  return way.value === "pr"
    ? propose(context, options, work, { forge, target })
    : land(context, options, work, { forge, target });
}

async function propose(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  { forge, target }: PlaceOfWork,
): Promise<Report> {
  const { redact, settings } = options;
  const checks = settings.checks.map((command) => command.join(" "));
  const text = describeWork(context.run, context.attempts, { checks, url: options.url(), redact });
  const request = await forge.propose({ ...work, target, ...text });
  if (!request.ok) return reported(request);
  const { number, url } = request.value;
  const where = url ?? `the branch ${work.branch}; merge it into ${target}, it is noticed`;
  return left("pull-request", `Waits to be merged: ${where}`, { ...recordOf(work, target, "pr"), pr: { number, url } });
}

async function land(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  { forge, target }: PlaceOfWork,
): Promise<Report> {
  const { run, stage, attempts, signal } = context;
  const { home, settings } = options;
  const attempt = Math.max(1, ...attempts.filter((each) => each.stage === stage.id).map((each) => each.attempt));
  const marker = markerOf(storeMark(home), run.id, stage.id, attempt);
  const landed = await landWork(
    { runId: run.id, target, ...work },
    {
      forge,
      project: context.project,
      strategy: settings.strategy,
      folder: join(home, "forge", "trees"),
      check: (cwd) =>
        runChecks({
          commands: settings.checks,
          cwd,
          // By the marker the next engine finds and ends processes that we left running.
          env: { ...options.environment, PASSRAIL_MARKER: marker },
          timeoutMs: settings.checkTimeoutMs,
          logFile: join(context.runDir, `${stage.id}-${attempt}-checks.log`),
          signal,
          redact: options.redact,
        }),
    },
  );
  if (!landed.ok) return reported(landed);
  return afterQueue(landed.value, work, { forge, target });
}

async function afterQueue(landing: Landing, work: Approved, { forge, target }: PlaceOfWork): Promise<Report> {
  switch (landing.type) {
    case "landed": {
      const { commit, how, checks } = landing;
      const kept = await forge.keep(commit);
      const warnings = kept.ok ? {} : { warnings: [`not_kept: ${kept.error.message}`] };
      const checked = checks.length === 0 ? "" : ` after ${checks.join(", ")}`;
      const summary = `${target} holds ${commit} (${how})${checked}.`;
      return { ...left("landed", summary, { ...recordOf(work, target, "land"), commit }), ...warnings };
    }
    case "conflict": {
      const issues = landing.files.map((file) => ({
        severity: "major",
        description: `conflicts with ${target}`,
        file,
      }));
      const reason = `${work.branch} conflicts with ${target} in ${landing.files.join(", ")}; nothing was landed`;
      return { structured: true, verdict: "reject", reason, issues };
    }
    case "failed-check": {
      const { command, why, excerpt } = landing;
      const description = `On top of ${target}, the check "${command}" ${why}. The end of its output:\n${excerpt}`;
      const summary = `The check "${command}" ${why} on the merged tree.`;
      return { structured: true, verdict: "revise", summary, issues: [{ severity: "major", description }] };
    }
  }
}

function left(word: string, summary: string, landed: Landed): Report {
  return { structured: true, verdict: "pass", word, summary, payload: landedPayload(landed) };
}

function recordOf({ branch, commit }: Approved, target: string, how: Landed["how"]): Landed {
  return { commit, approved: commit, branch, target, how, pr: null };
}

async function findPlace(context: BuiltinContext, options: LandOptions, work: Approved): Promise<Result<PlaceOfWork>> {
  const unmoved = await isUnmoved(context.project, work);
  if (!unmoved.ok) return unmoved;
  const forge = await options.forgeOf(context.project);
  if (!forge.ok) return forge;
  const { target: named } = options.settings;
  const target = named === null ? await forge.value.defaultTarget() : ok(named);
  if (!target.ok) return target;
  if (target.value === work.branch) return err(sameBranch(target.value));
  return ok({ forge: forge.value, target: target.value });
}

/** Only the approved commit leaves: if the branch has moved since, a person reviews it again. */
async function isUnmoved(folder: string, { branch, commit }: Approved): Promise<Result<null>> {
  const project = await findProject(folder);
  if (!project.ok) return project;
  const repository = await findRepository(project.value);
  if (!repository.ok) return repository;
  const { commonDir } = repository.value;
  const found = await resolveCommits(commonDir, [`refs/heads/${branch}`, commit], inRepository(commonDir));
  if (!found.ok) return found;
  const [head, approved] = found.value;
  if (approved !== commit)
    return err({ code: "commit_missing", message: `The approved commit ${commit} is not in ${folder}.` });
  if (head === null || head === commit) return ok(null);
  return err({
    code: "branch_moved",
    message: `${branch} is at ${head}; ${commit} was approved. Nothing was landed.`,
    hint: "Have it validated again, or set the branch back.",
  });
}

async function holds(forge: Forge, head: string, commit: string): Promise<boolean> {
  return (await git(forge.gitDir, ["merge-base", "--is-ancestor", commit, head], inRepository(forge.gitDir))).ok;
}

async function wayOf({ run, resolved }: BuiltinContext, { isTerminal, settings }: LandOptions) {
  const { merge } = resolved.flow;
  const mode = runFacts(run).config.mergeMode || settings.mode;
  const rule = merge?.modes[mode] ?? (merge === undefined ? DEFAULT_WAYS[mode] : undefined);
  const way = rule === undefined ? undefined : mergeWay(rule, await isTerminal(run));
  return way === undefined
    ? err({
        code: "merge_mode_unknown",
        message: `The flow ${resolved.flow.name} has no way to land in the mode "${mode}".`,
      })
    : ok(way);
}

const DEFAULT_WAYS: Readonly<Record<string, string>> = { auto: "pr", merge: "land", pr: "pr" };

/** Temporary failures are retried, a login is the operator's task, and a person looks at everything else. */
function reported(failed: { readonly ok: false; readonly error: Problem }): Report {
  const { code, message, hint } = failed.error;
  const reason = hint === undefined ? message : `${message} (${hint})`;
  if (code === "unreachable" || code === "rate_limit" || code === "server_error") return { cause: code, reason };
  if (code === "forge_auth" || code === "token_missing") return { cause: code, reason };
  return {
    structured: true,
    verdict: "reject",
    reason,
    issues: [{ severity: "major", description: `${code}: ${reason}` }],
  };
}

const nothingApproved: Problem = {
  code: "nothing_approved",
  message: "No stage of this run reported the commit at which it ended, so there is nothing to land.",
};

function sameBranch(target: string): Problem {
  return {
    code: "target_is_branch",
    message: `The work is on ${target} itself; it cannot be landed there.`,
    hint: "Name the branch that work goes into in passrail.yaml: merge: { target: main }",
  };
}
