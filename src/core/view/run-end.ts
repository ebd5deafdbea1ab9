// Where the work of a run is when it has ended or stopped: the branch, its commits, whether and where it landed, and the commands that land,
// propose, inspect or discard it. Every door shows this one reading.

import { attemptFacts } from "../attempt-facts.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import type { JsonObject } from "../json.ts";
import { branchOf } from "../run/branch.ts";
import { joinOf, trackBranch } from "../run/track-branch.ts";
import { conditionHolds } from "../run/sequence.ts";
import { discarded } from "../run/outward.ts";
import { projectOf, workspaceMode } from "../run/run-settings.ts";
import type { ImportMark } from "../run/import-mark.ts";
import { isEnded, type Run } from "../run/run.ts";
import { jointOf, lastTips, memberName } from "../run/joint.ts";
import { type Landed, type LandedMember, landedPart } from "../ticket/landed.ts";

export type EndCommand = {
  readonly act: "look" | "merge" | "pull-request" | "discard" | "restore" | "commit";
  readonly command: string;
};

export type RunEnd = {
  /**
   * landed: the target holds the work. proposed: a pull request waits. pushed: only the branch left. kept: the branch has it, nothing was
   * merged. gone: the branch was removed. in-place: the work is in the project's own folder. none: there is no work. imported: the run came
   * from a file, and a repository of its own has the work.
   */
  readonly state: "landed" | "proposed" | "pushed" | "kept" | "gone" | "in-place" | "none" | "imported";
  readonly branch: string | null;
  /** The number of commits that the run's attempts added. */
  readonly commits: number;
  readonly tip: string | null;
  /** Where it went; null unless it left the branch. */
  readonly target: string | null;
  readonly landedAs: string | null;
  readonly url: string | null;
  /** All of it in sentences. */
  readonly text: string;
  readonly commands: readonly EndCommand[];
};

export type EndedWork = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly number: number;
  readonly attempts: readonly {
    readonly status: string;
    readonly endedAt: string | null;
    readonly facts: JsonObject;
    readonly outcome?: JsonObject | null;
  }[];
  /** Where the work went, by this run or by a later one that landed it. */
  readonly landed: Landed | undefined;
  /** The branch's current commit, null if there is no such branch; undefined if it was not read. */
  readonly head?: string | null;
};

/** Null while the run works or waits. */
export function runEnd(work: EndedWork): RunEnd | null {
  const { resolved, run } = work;
  if (!isEnded(run) && run.status !== "stopped") return null;
  if (run.imported !== undefined) return imported(work, run.imported);
  if (workspaceMode(resolved, run) === "in-place") return inPlace(work);
  const { commits, tip } = commitsOf(work);
  const branch = branchOf(resolved.flow, run);
  const base = { branch, commits, tip, target: null, landedAs: null, url: null };
  if (work.landed !== undefined) return left(work, work.landed, base);
  if (tip === null) return { ...base, state: "none", text: `No stage left a commit on ${branch}.`, commands: [] };
  const at = `${count(commits)} on ${branch}, ${placesOf(work, tip)}${trackBranches(work)}`;
  if (work.head === null) {
    const command = `passrail undo ${run.subject.id}`;
    const kept = discarded(run)?.keptAs;
    const text =
      kept === undefined
        ? `${at}. The branch was removed; its commit is kept.`
        : `${at}. A person discarded it: the branch was removed, and ${kept} keeps its commits.`;
    return { ...base, state: "gone", text, commands: [{ act: "restore", command }] };
  }
  const commands = jointOf(run) === null ? waysOn(work) : waysOnEach(work, branch);
  const rest = landedPart(work.attempts).length === 0 ? "Not landed" : "The others did not land";
  return { ...base, state: "kept", text: `${at}. ${rest}: ${whyNot(work)}.`, commands };
}

/** Of several repositories each with its own commit, and where it landed before another one could not. */
function placesOf({ attempts, run }: EndedWork, tip: string): string {
  if (jointOf(run) === null) return `at ${tip.slice(0, 12)}`;
  const landed = landedPart(attempts);
  return lastTips(attempts)
    .map(({ dir, commit }) => {
      const there = landed.find((each) => each.dir === dir);
      const where = there === undefined ? "" : ` (landed in ${there.target} as ${there.commit.slice(0, 12)})`;
      return `${memberName(dir)} at ${commit.slice(0, 12)}${where}`;
    })
    .join(", ");
}

/** The work of several repositories is merged by hand in each of them. */
function waysOnEach({ attempts, run }: EndedWork, branch: string): readonly EndCommand[] {
  return lastTips(attempts).flatMap(({ dir }): EndCommand[] => [
    { act: "look", command: `${gitIn(run, dir)} log -p HEAD..${branch}` },
    ...(run.status === "completed" ? [{ act: "merge", command: `${gitIn(run, dir)} merge ${branch}` } as const] : []),
  ]);
}

/** For a notice: the sentences, and the commands on one line. */
export function endText({ text, commands }: RunEnd): string {
  return [text, ...commands.map(({ act, command }) => `${act}: ${command}`)].join("\n");
}

type Base = Pick<RunEnd, "branch" | "commits" | "tip" | "target" | "landedAs" | "url">;

function left(work: EndedWork, landed: Landed, base: Base): RunEnd {
  const { how, target, commit, branch, pr, repositories } = landed;
  if (repositories !== undefined) return leftEach(work, { ...landed, repositories }, base);
  const url = pr?.url ?? null;
  // A run that lands the work of another made no commit itself.
  const what = base.commits === 0 ? `The commits of ${branch}` : `${count(base.commits)} of ${branch}`;
  const known = { ...base, branch, target, url };
  const look: EndCommand = { act: "look", command: `${gitIn(work.run)} show ${commit.slice(0, 12)}` };
  switch (how) {
    case "land":
    case "merged":
    case "forced": {
      const proven = how === "forced" ? " (a person's word, not seen)" : "";
      const text = `${what} landed in ${target} as ${commit.slice(0, 12)}${proven}.`;
      return { ...known, state: "landed", landedAs: commit, text, commands: [look] };
    }
    case "pr": {
      const text = `${what} wait to be merged into ${target}${url === null ? "" : `: ${url}`}.`;
      return { ...known, state: "proposed", text, commands: [look] };
    }
    case "push":
      return { ...known, state: "pushed", text: `${what} are pushed and not merged into ${target}.`, commands: [look] };
  }
}

function leftEach(
  { run }: EndedWork,
  { how, target, commit, branch, repositories }: Landed & { readonly repositories: readonly LandedMember[] },
  base: Base,
): RunEnd {
  const isLanded = how !== "push";
  const places = repositories.map((each) => `${memberName(each.dir)} in ${each.target} as ${each.commit.slice(0, 12)}`);
  const text = isLanded
    ? `${count(base.commits)} of ${branch} landed: ${places.join(", ") || "no repository has changes"}.`
    : `${count(base.commits)} of ${branch} are pushed and not merged: ${repositories.map(({ dir }) => memberName(dir)).join(", ")}.`;
  return {
    ...base,
    branch,
    target,
    state: isLanded ? "landed" : "pushed",
    landedAs: isLanded ? commit : null,
    text,
    commands: repositories.map((each) => ({
      act: "look",
      command: `${gitIn(run, each.dir)} show ${each.commit.slice(0, 12)}`,
    })),
  };
}

function imported(work: EndedWork, { exportedAt, was }: ImportMark): RunEnd {
  const { commits, tip } = commitsOf(work);
  const at = tip === null ? "without a commit" : `with ${count(commits)}, in ${projectOf(work.run)}`;
  return {
    state: "imported",
    branch: null,
    commits,
    tip,
    target: null,
    landedAs: null,
    url: null,
    text: `Imported from a file of ${exportedAt}, when the run was ${was}, ${at}. It is for looking at and for replays, and never lands.`,
    commands: tip === null ? [] : [{ act: "look", command: `passrail runs diff ${work.number}` }],
  };
}

function inPlace(work: EndedWork): RunEnd {
  const { run } = work;
  const { commits, tip } = commitsOf(work);
  const project = projectOf(run);
  const made = tip === null ? "Passrail committed nothing there" : `its agents made ${count(commits)} there`;
  const git = gitIn(run);
  return {
    state: "in-place",
    branch: null,
    commits,
    tip,
    target: null,
    landedAs: null,
    url: null,
    text: `The work is in ${project} itself, on the branch that is checked out: ${made}.`,
    commands: [
      { act: "look", command: `${git} status` },
      { act: "commit", command: `${git} add --all && ${git} commit` },
    ],
  };
}

/** Landing is for accepted work: a run that stopped can be retried, and one that was canceled was not wanted. */
function waysOn({ run, number }: EndedWork): readonly EndCommand[] {
  const look: EndCommand = { act: "look", command: `passrail runs diff ${number}` };
  const discard: EndCommand = { act: "discard", command: `passrail discard ${number}` };
  if (run.status === "stopped") return [look];
  if (run.status === "canceled") return [look, discard];
  return [
    look,
    { act: "merge", command: `passrail merge ${number}` },
    { act: "pull-request", command: `passrail merge ${number} --pr` },
    discard,
  ];
}

function whyNot({ run, resolved: { flow } }: EndedWork): string {
  if (run.status !== "completed") return `the run is ${run.status}`;
  const lands = flow.stages.find((stage) => stage.kind === "builtin" && stage.agent === "land");
  if (lands === undefined) return `the flow ${flow.name} does not merge`;
  if (run.stages[lands.id] !== undefined || lands.when === undefined || conditionHolds(run, lands.when))
    return "a person decided so";
  return "no merge.mode is set for this project, so the flow does not merge";
}

/** The branches of tracks that have a worktree of their own; the run's branch contains them once they are joined. */
function trackBranches({ resolved: { flow }, run }: EndedWork): string {
  const names = Object.keys(run.tracks).filter((track) => joinOf(flow, track) !== undefined);
  if (names.length === 0) return "";
  return `; the tracks on ${names.map((track) => trackBranch(flow, run, track)).join(", ")}`;
}

function commitsOf({ attempts }: EndedWork): { readonly commits: number; readonly tip: string | null } {
  const ended = attempts.toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? -1 : 1));
  const facts = ended.map(attemptFacts).filter(({ from, to }) => to !== null && from !== to);
  const all = new Set(facts.flatMap(({ commits, to }) => [...commits, ...(to === null ? [] : [to])]));
  return { commits: all.size, tip: facts.at(-1)?.to ?? null };
}

function count(commits: number): string {
  return `${commits} ${commits === 1 ? "commit" : "commits"}`;
}

/** `dir`: the folder of one of several repositories. */
function gitIn(run: Run, dir = "."): string {
  const project = dir === "." ? projectOf(run) : `${projectOf(run)}/${dir}`;
  return `git -C ${/^[\w./-]+$/u.test(project) ? project : `'${project.replaceAll("'", String.raw`'\''`)}'`}`;
}
