// The builtin `land`: the approved commit leaves by the way that the flow and the settings name. Passrail reports work as done only after
// it has seen the commit in the remote branch or in the target. A person decides about everything else.

import { runFacts } from "../../core/run/facts.ts";
import { join } from "node:path";
import { wayToLand } from "../../core/ticket/merge-rule.ts";
import type { Report } from "../../core/flow/outcome.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { openActs } from "../../core/run/outward.ts";
import { type Joint, jointOf } from "../../core/run/joint.ts";
import type { Run } from "../../core/run/run.ts";
import { markerOf, storeMark } from "../../attempt/attempt-files.ts";
import type { Builtin, BuiltinContext } from "../../attempt/builtins.ts";
import type { Forge } from "../../forge/forge.ts";
import { inTurn } from "../../forge/in-turn.ts";
import type { MergeSettings } from "../../settings/merge.ts";
import { git, inRepository } from "../../git/git.ts";
import { findProject, findRepository, resolveCommits } from "../../git/repository.ts";
import type { EarlierAttempt } from "../../attempt/earlier-attempt.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Store } from "../../store/store.ts";
import { splitJoint } from "../../workspace/joint-repository.ts";
import { type Acting, createActing } from "./act.ts";
import { waitForApproval } from "./await-approval.ts";
import type { CheckPorts } from "../../attempt/checks/run-check.ts";
import { runChecks } from "./checks.ts";
import { markedWork } from "../../app/marked-work.ts";
import { describeWork } from "./describe.ts";
import { landEach, type MemberPart } from "./land-each.ts";
import { type Landing, landWork } from "./queue.ts";
import { type Landed, landedPayload } from "../../core/ticket/landed.ts";
import { type Approved, approvedWork } from "./record.ts";
import { lookFor, sightOf } from "./sight.ts";

export type LandOptions = {
  readonly home: string;
  readonly settings: MergeSettings;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  /** Whether no other ticket builds on this one; called when its work is finished. */
  readonly isTerminal: (run: Run) => Promise<boolean>;
  readonly runners: CheckPorts["runners"];
  readonly redact: (text: string) => string;
  readonly url: () => string;
  /** For a run that lands another one's work, and for results of checks. */
  readonly store: Pick<Store, "loadRun" | "attempts" | "findCheck" | "saveCheck">;
};

export function createLand(options: LandOptions): Builtin {
  return async (context) => {
    if (context.workspace.mode === "in-place") {
      const summary = "The run worked in the project's own folder; there is no branch to deliver.";
      return { structured: true, verdict: "pass", word: "in-place", summary };
    }
    const source = await workedAttempts(context, options);
    if (!source.ok) return reported(source);
    const work = approvedWork(source.value);
    if (work === undefined) return reported({ ok: false, error: nothingApproved });
    const joint = jointOf(context.run);
    if (joint === null) return landOne(context, options, work, null);
    const parts = await partsOf(context, options, work, joint);
    if (!parts.ok) return reported(parts);
    return landEach(work, parts.value, (part) =>
      landOne({ ...context, project: join(context.project, part.dir) }, options, part, part),
    );
  };
}

/** `part`: the repository's part of the work of several. */
async function landOne(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  part: MemberPart | null,
): Promise<Report> {
  const target = part === null ? options.settings.target : part.target;
  const place = await findPlace(context, options, work, target);
  if (!place.ok) return reported(place);
  const { forge } = place.value;
  const at = { ...place.value, repository: part?.dir ?? null };
  // One at a time per repository and target.
  return inTurn(`${forge.gitDir}\0${at.target}`, async () => {
    const report = await deliver(context, options, { branch: work.branch, commit: work.commit }, at);
    if (report.verdict === "pass") await closeEarlier(context, at);
    return report;
  });
}

/** Every repository's part, after all of them were seen where they were approved: nothing lands if one has moved. */
async function partsOf(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  joint: Joint,
): Promise<Result<readonly MemberPart[]>> {
  const way = await wayOf(context, options);
  if (!way.ok) return way;
  if (way.value === "pr") return err(requestsOfSeveral);
  const unmoved = await isUnmoved(joint.folder, work);
  if (!unmoved.ok) return unmoved;
  const split = await splitJoint(joint, work.commit);
  if (!split.ok) return split;
  const parts = joint.members.flatMap(({ dir, commit: begin, base: target }, at) => {
    const commit = split.value[at] ?? begin;
    return commit === begin ? [] : [{ dir, target, branch: work.branch, commit }];
  });
  for (const part of parts) {
    const there = await isUnmoved(join(context.project, part.dir), part);
    if (!there.ok) return there;
  }
  return ok(parts);
}

/** Acts of an attempt that a crash ended: the work is out now, so the remote shows what became of them. */
async function closeEarlier(
  { attempt, outward, run, stage }: BuiltinContext,
  { forge, repository }: PlaceOfWork,
): Promise<void> {
  const own = openActs(run).filter((act) => act.stage === stage.id && (act.repository ?? null) === repository);
  for (const act of own.filter((each) => each.attempt < attempt)) {
    const seen = await lookFor(forge, act);
    if (!seen.ok) continue;
    const why = "its process ended before the remote had it";
    await outward.see(act.key, seen.value === null ? { result: "not-done", why } : { result: "done", ...seen.value });
  }
}

/** The attempts that did the work: the run's own, or those of the completed run that it lands. */
async function workedAttempts(
  { run, attempts, project }: BuiltinContext,
  { store }: LandOptions,
): Promise<Result<readonly EarlierAttempt[]>> {
  const { run: source } = runFacts(run).land;
  if (source === null) return ok(attempts);
  const found = (await store.loadRun(source))?.run;
  if (found?.status !== "completed" || projectOf(found) !== project)
    return err({ code: "not_completed", message: `There is no completed run ${source} in ${project}.` });
  return ok(await store.attempts(source));
}

type PlaceOfWork = {
  readonly forge: Forge;
  readonly target: string;
  /** The folder of one of several repositories. */
  readonly repository: string | null;
};

async function deliver(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  place: PlaceOfWork,
): Promise<Report> {
  const { forge, target } = place;
  const way = await wayOf(context, options);
  if (!way.ok) return reported(way);
  const named = cleanName(work.branch, target, options.redact);
  if (!named.ok) return reported(named);
  const act = createActing(context.outward, context.stage.id, context.attempt, place.repository);
  if (way.value === "push") {
    const pushed = await push(act, work, place);
    if (!pushed.ok) return reported(pushed);
    const where = forge.name === "local" ? `stays as branch ${work.branch}` : `is pushed as ${work.branch}`;
    return left("pushed", `${work.commit} ${where}; other tickets build on it.`, recordOf(work, target, "push"));
  }
  const head = await forge.head(target);
  if (!head.ok) return reported(head);
  if (head.value !== null && (await holds(forge, head.value, work.commit)))
    return left("landed", `${target} holds ${work.commit} already.`, recordOf(work, target, "land"));
  return way.value === "pr"
    ? propose(context, options, work, { ...place, act })
    : land(context, options, work, { ...place, act });
}

type ActingPlace = PlaceOfWork & { readonly act: Acting };

/** Without a remote the branch stays where it is, and nothing leaves. */
function push(
  act: Acting,
  work: Approved,
  { forge, target }: Pick<PlaceOfWork, "forge" | "target">,
): Promise<Result<unknown>> {
  if (forge.name === "local") return forge.push(work);
  const intent = { verb: "push", ...work, target, before: null } as const;
  return act({
    intent,
    async send() {
      const pushed = await forge.push(work);
      return pushed.ok ? ok(sightOf(work.commit)) : pushed;
    },
    look: () => lookFor(forge, intent),
    sightOf: (sight) => sight,
  });
}

async function propose(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  { act, forge, target }: ActingPlace,
): Promise<Report> {
  const { redact, settings } = options;
  const checks = settings.checks.map((command) => command.join(" "));
  const source = await workedAttempts(context, options);
  if (!source.ok) return reported(source);
  const marked = await markedWork(context.project, source.value, work.commit);
  const text = describeWork(context.run, source.value, { checks, marked, url: options.url(), redact });
  const pushed = await push(act, work, { forge, target });
  if (!pushed.ok) return reported(pushed);
  const send = () => forge.propose({ ...work, target, ...text });
  const request =
    forge.name === "github"
      ? await act({
          intent: { verb: "propose", ...work, target, before: null },
          send,
          look: () => forge.proposed({ ...work, target }),
          sightOf: ({ number, url }) => ({ commit: work.commit, number, url }),
        })
      : await send();
  if (!request.ok) return reported(request);
  const { number, url } = request.value;
  const where = url ?? `the branch ${work.branch}; merge it into ${target}, it is noticed`;
  return left("pull-request", `Waits to be merged: ${where}`, { ...recordOf(work, target, "pr"), pr: { number, url } });
}

async function land(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  { act, forge, target, repository }: ActingPlace,
): Promise<Report> {
  const { run, stage, attempt, signal } = context;
  const { home, settings } = options;
  const marker = markerOf(storeMark(home), run.id, stage.id, attempt);
  const landed = await landWork(
    // Of several repositories one may have landed an earlier version of its work: only what was made of this one counts.
    { runId: repository === null ? run.id : `${run.id}-${work.commit.slice(0, 12)}`, target, ...work },
    {
      act,
      tried: repository === null ? (run.outward ?? []).map(({ commit }) => commit) : [],
      forge,
      project: context.project,
      strategy: settings.strategy,
      folder: join(home, "forge", "trees"),
      check: (dir, commit) =>
        runChecks({
          commands: settings.checks,
          dir,
          commit,
          place: inRepository(forge.gitDir),
          timeoutMs: settings.checkTimeoutMs,
          logFolder: join(context.runDir, `${stage.id}-${attempt}`),
          // By the marker the next engine finds and ends processes that we left running.
          marker,
          by: { runId: run.id, stage: stage.id, attempt },
          ports: {
            runners: options.runners,
            findCached: runFacts(run).config.checkCache ? (key, now) => options.store.findCheck(key, now) : null,
            saveCached: (check) => options.store.saveCheck(check),
            now: context.now,
            signal,
          },
        }),
    },
  );
  if (!landed.ok) return reported(landed);
  return afterQueue(landed.value, work, { forge, target });
}

async function afterQueue(
  landing: Landing,
  work: Approved,
  { forge, target }: Pick<PlaceOfWork, "forge" | "target">,
): Promise<Report> {
  switch (landing.type) {
    case "landed": {
      const { commit, how, checks } = landing;
      const kept = await forge.keep(commit);
      const warnings = kept.ok ? {} : { warnings: [`not_kept: ${kept.error.message}`] };
      const checked = checks.length === 0 ? "" : ` after ${checks.map(({ command }) => command).join(", ")}`;
      const summary = `${target} holds ${commit} (${how})${checked}.`;
      return { ...left("landed", summary, { ...recordOf(work, target, "land"), commit }), checks, ...warnings };
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
      const { command, why, excerpt, checks } = landing;
      const description = `On top of ${target}, the check "${command}" ${why}. The end of its output:\n${excerpt}`;
      const summary = `The check "${command}" ${why} on the merged tree.`;
      return { structured: true, verdict: "revise", summary, checks, issues: [{ severity: "major", description }] };
    }
  }
}

function left(word: string, summary: string, landed: Landed): Report {
  return { structured: true, verdict: "pass", word, summary, payload: landedPayload(landed) };
}

function recordOf({ branch, commit }: Approved, target: string, how: Landed["how"]): Landed {
  return { commit, approved: commit, branch, target, how, pr: null };
}

async function findPlace(
  context: BuiltinContext,
  options: LandOptions,
  work: Approved,
  named: string | null,
): Promise<Result<Pick<PlaceOfWork, "forge" | "target">>> {
  const unmoved = await isUnmoved(context.project, work);
  if (!unmoved.ok) return unmoved;
  const forge = await options.forgeOf(context.project);
  if (!forge.ok) return forge;
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

/** A name leaves with the work, and the store keeps names without secrets. */
function cleanName(branch: string, target: string, redact: (text: string) => string): Result<null> {
  const secret = [branch, target].find((name) => redact(name) !== name);
  if (secret === undefined) return ok(null);
  return err({
    code: "secret_in_name",
    message: `The name of the branch ${redact(secret)} contains a secret; nothing was landed.`,
    hint: "Give the work another branch, and replace the secret.",
  });
}

async function wayOf({ run, resolved }: BuiltinContext, { isTerminal, settings }: LandOptions) {
  const { merge } = resolved.flow;
  const mode = runFacts(run).config.mergeMode || settings.mode;
  const way = wayToLand(merge?.modes, mode, await isTerminal(run));
  return way === undefined
    ? err({
        code: "merge_mode_unknown",
        message: `The flow ${resolved.flow.name} has no way to land in the mode "${mode}".`,
      })
    : ok(way);
}

const PASSING: ReadonlySet<string> = new Set([
  "unreachable",
  "rate_limit",
  "server_error",
  "landing_held",
  "repository_busy",
]);

/** Temporary failures are retried, a login is the operator's task, and a person looks at everything else. */
function reported(failed: { readonly ok: false; readonly error: Problem }): Report {
  const { code, message, hint } = failed.error;
  const reason = hint === undefined ? message : `${message} (${hint})`;
  if (PASSING.has(code)) return { cause: code, reason };
  if (code === "trust_withdrawn") return waitForApproval(reason);
  // It has no reader: the attempt was ended.
  if (code === "not_wanted") return { cause: "canceled", reason };
  if (code === "forge_auth" || code === "token_missing") return { cause: code, reason };
  return {
    structured: true,
    verdict: "reject",
    reason,
    issues: [{ severity: "major", description: `${code}: ${reason}` }],
  };
}

const requestsOfSeveral: Problem = {
  code: "repositories_refused",
  message: "Pull requests in several repositories cannot be merged as one decision; nothing was landed.",
  hint: "Set merge: { mode: auto }, or open them yourself from the branches.",
};

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
