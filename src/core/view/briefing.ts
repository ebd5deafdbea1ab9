// The plan of a run, for the person who decides before it begins: the stages in order, their runners, what they read
// and hand over, their earlier cost, the files and the repositories. Written once for terminal, API and dashboard.

import type { ResolvedFlow } from "../flow/agent.ts";
import { factPathsOf } from "../flow/condition.ts";
import { MAIN_TRACK, type Stage } from "../flow/flow.ts";
import { meteredBy } from "../flow/metered.ts";
import { ladderText } from "../flow/ladder.ts";
import { runnerLadder } from "../flow/runner-choice.ts";
import { sectionsIn } from "../input/sections.ts";
import type { Json, JsonObject } from "../json.ts";
import { optional } from "../optional.ts";
import { pinnedOf } from "../run/pinned.ts";
import type { Run } from "../run/run.ts";
import { conditionHolds, isWork, stagesOf } from "../run/sequence.ts";
import { costText } from "./cost-text.ts";
import { listStages, whoOf } from "./stage-list.ts";

export type PlannedStage = {
  readonly stage: string;
  /** `main` outside of parallel tracks. */
  readonly track: string;
  readonly kind: Stage["kind"];
  /** The agent that works there, or the person who decides. */
  readonly who: string;
  /** All rungs in words where it is a ladder. */
  readonly runner: string | null;
  readonly model: string | null;
  /** It runs only if this holds then; null if it certainly runs. */
  readonly when: string | null;
  readonly reads: readonly string[];
  /** The headings that its handoff must have. */
  readonly produces: readonly string[];
  /** Whether the runner reports a cost. */
  readonly isMetered: boolean;
  /** The usual cost of an attempt before; null if unknown or not metered. */
  readonly usd: number | null;
};

export type BriefedFile = {
  /** The fact that names it; null for the project's rules. */
  readonly name: string | null;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
};

export type BriefedRepository = {
  readonly name: string;
  readonly dir: string;
  readonly branch: string | null;
  readonly base: string | null;
  readonly commit: string;
  readonly dirty: number;
};

export type Briefing = {
  readonly feature: string;
  readonly stages: readonly PlannedStage[];
  readonly files: readonly BriefedFile[];
  readonly repositories: readonly BriefedRepository[];
  /** The plan's own words about what its parts promise each other; null without such a section. */
  readonly contracts: string | null;
  /** One attempt of every stage that certainly runs; null if no cost is known. */
  readonly usd: number | null;
  /** Stages whose cost is unknown; then `usd` is only a part. */
  readonly unknown: number;
};

/** Only before the first stage has worked: later the evidence of the stages says more. */
export function isBeforeWork({ stages }: Run): boolean {
  return Object.values(stages).every(({ last }) => last === undefined);
}

/** `usdOf`: the usual cost of a stage, from the store. */
export function briefingOf(
  resolved: ResolvedFlow,
  run: Run,
  plan: string | null,
  usdOf: (stage: string) => number | null,
): Briefing {
  const stages = plannedStages(resolved, run).map((stage) => ({ ...stage, usd: usdOf(stage.stage) }));
  const metered = stages.filter(({ isMetered, when }) => isMetered && when === null);
  const known = metered.flatMap(({ usd }) => usd ?? []);
  const { inputs, rules } = pinnedOf(run);
  return {
    feature: run.subject.title,
    stages,
    files: [
      ...inputs.map(({ name, path, sha256, bytes }) => ({ name, path, sha256, bytes })),
      ...rules.map(({ path, sha256, bytes }) => ({ name: null, path, sha256, bytes })),
    ],
    repositories: repositoriesOf(run),
    contracts: plan === null ? null : contractsIn(plan),
    usd: known.length === 0 ? null : known.reduce((sum, usd) => sum + usd, 0),
    unknown: metered.length - known.length,
  };
}

/** The stages that can run with these facts, in order; a condition on how another stage ends is left open. */
export function plannedStages(resolved: ResolvedFlow, run: Run): readonly PlannedStage[] {
  return listStages(stagesOf(resolved.flow, run, MAIN_TRACK)).flatMap(({ track, stage }): PlannedStage[] => {
    if (stage.enterOnly || stage.kind === "parallel") return [];
    const isOpen = stage.when !== undefined && factPathsOf(stage.when).some(([space]) => space === "last");
    if (stage.when !== undefined && !isOpen && !conditionHolds(run, stage.when)) return [];
    const work = isWork(stage) ? stage : undefined;
    const ladder = work === undefined ? [] : runnerLadder(resolved, run.facts, work);
    const [choice] = ladder;
    const rungs = ladder.map(({ runner, options }) => ({ runner, ...optional({ model: options.model }) }));
    return [
      {
        stage: stage.id,
        track,
        kind: stage.kind,
        who: whoOf(stage),
        runner: rungs.length > 1 ? ladderText(rungs) : (choice?.runner ?? null),
        model: rungs.length > 1 ? null : (choice?.options.model ?? null),
        when: isOpen ? (stage.when ?? null) : null,
        reads: work === undefined ? [] : readsOf(work),
        produces: work?.produces ?? [],
        isMetered: meteredBy(choice) !== null,
        usd: null,
      },
    ];
  });
}

/** The parts of its prompt that come from files, and the files that the flow names. */
function readsOf({ kind, bundle, prompt, reads }: Stage & { kind: "agent" | "builtin" | "router" }): readonly string[] {
  if (kind !== "agent") return reads;
  const parts = prompt.flatMap((part) => {
    if (part === "bundle") return bundle === undefined || bundle === "none" ? [] : [`${bundle}-bundle.md`];
    return part === "spec" || part === "task" || part === "previous-handoff" ? [part] : [];
  });
  return [...parts, ...reads];
}

const CONTRACTS = /\b(?:contract|contracts|interface|interfaces|api)\b/iu;
const CONTRACT_CHARS = 4000;

function contractsIn(plan: string): string | null {
  const found = sectionsIn(plan).filter(({ title, level }) => level > 1 && CONTRACTS.test(title));
  const text = found.map((section) => section.text).join("\n\n");
  if (text === "") return null;
  return text.length > CONTRACT_CHARS ? `${text.slice(0, CONTRACT_CHARS)}\n(cut)` : text;
}

function repositoriesOf({ facts }: Pick<Run, "facts">): readonly BriefedRepository[] {
  const listed = facts["repositories"];
  return Array.isArray(listed) ? (listed as readonly Json[]).flatMap(repositoryOf) : [];
}

function repositoryOf(value: Json): readonly BriefedRepository[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const { name, dir, branch, base, commit, dirty } = value as JsonObject;
  if (typeof name !== "string" || typeof dir !== "string" || typeof commit !== "string") return [];
  const textOf = (text: Json | undefined): string | null => (typeof text === "string" ? text : null);
  return [
    { name, dir, branch: textOf(branch), base: textOf(base), commit, dirty: typeof dirty === "number" ? dirty : 0 },
  ];
}

/** A line each, for a terminal. */
export function briefingLines({ stages, files, repositories, contracts, usd, unknown }: Briefing): readonly string[] {
  const shown = stages.filter(({ kind }) => kind !== "builtin");
  return [
    "will run:",
    ...shown.map(stageLine),
    `expected cost, one attempt each: ${costText(usd, unknown)}`,
    ...files.map(
      ({ name, path, sha256, bytes }) => `${name ?? "rules"}: ${path}, ${bytes} bytes, sha256 ${sha256.slice(0, 12)}`,
    ),
    ...repositories.map(repositoryLine),
    ...(contracts === null ? [] : [`contracts in the plan:`, ...contracts.split("\n").map((line) => `  ${line}`)]),
  ];
}

function stageLine({ stage, track, kind, who, runner, model, when, usd, isMetered }: PlannedStage): string {
  const where = track === MAIN_TRACK ? "" : ` [${track}]`;
  if (kind === "gate") return `  ${stage}${where}: ${who} decides`;
  const player = [runner ?? "no runner", ...(model === null ? [] : [model])].join(" ");
  const cost = isMetered && usd !== null ? `, about $${usd.toFixed(2)}` : "";
  return `  ${stage}${where}: ${who} (${player})${cost}${when === null ? "" : `, only if ${when}`}`;
}

function repositoryLine({ name, dir, branch, base, commit, dirty }: BriefedRepository): string {
  const at = branch === null ? "no branch" : branch === base || base === null ? branch : `${branch} (base ${base})`;
  return `repository ${name}: ${dir} on ${at} at ${commit.slice(0, 12)}${dirty === 0 ? "" : `, ${dirty} uncommitted files left out`}`;
}
