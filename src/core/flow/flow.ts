// The flow as the engine sees it: every shorthand expanded, every default applied, plain JSON.
// A run stores this resolved form and its hash, so editing a file never changes a run in progress.

import type { agentOptionKeys, WrittenOptions } from "./agent-options.ts";
import { foreachCounters, NEXT_ROW, withForeach } from "./foreach.ts";
import { checkDefinitions } from "./check-definitions.ts";
import { CHECKS_FAILED, type CheckDefinition } from "./check-result.ts";
import { durationMs } from "./duration.ts";
import type { FlowFile, RouteFile, StageFile } from "./flow-file.ts";
import type { Health, Verdict } from "./outcome.ts";
import { optional } from "../optional.ts";
import type { RouterFallback } from "./router-fallback.ts";
import type { TEST_FILES } from "./test-files.ts";

export type RunStateWord =
  | "queued"
  | "running"
  | "waiting"
  | "question"
  | "choice"
  | "escalated"
  | "completed"
  | "stopped"
  | "canceled"
  | "stalled";

export type Words = {
  readonly verdict: Readonly<Record<string, Verdict>>;
  readonly unknownVerdict: "failed" | "revise" | "pass";
  readonly health: Readonly<Record<string, Health>>;
  readonly unknownHealth: Health;
  readonly score: Readonly<Partial<Record<Verdict, readonly [number, number]>>>;
  readonly status: Readonly<Partial<Record<RunStateWord, string>>>;
};

export type Counter = {
  /** Re-runs allowed; null = no limit. */
  readonly maxLoops: number | null;
  readonly scope: "run" | "track" | "stage";
  /** Only in runs that an earlier version began; their flow still ends a loop of equal issues. */
  readonly sameIssues: number | null;
  /** escalate, stop, or a key of the stage's route. */
  readonly onExhausted: string;
  readonly column: string | null;
  readonly resets: readonly string[];
  /** It counts the rounds of a foreach: a further round is no revision of the one before. */
  readonly isRounds?: true;
};

export type StatusRule = string | { readonly when: string; readonly is: string; readonly else: string };

export type Route = {
  readonly goto: string;
  readonly counter?: string;
  readonly carry: readonly string[];
  readonly status?: StatusRule;
  /** The run waits for a person first. With choices the answer is one of them, else it is free text. */
  readonly ask?: { readonly who: string; readonly show?: string; readonly choices?: Readonly<Record<string, string>> };
  readonly else?: string;
  readonly onlyBlamed: boolean;
  readonly once: boolean;
  /** The attempt's commits are taken off the branch. */
  readonly undo?: "work";
};

export type Routes = Readonly<Record<string, Route>>;

export type ResultSpec = NonNullable<StageFile["result"]>;
export type WorkspacePlan = NonNullable<FlowFile["workspace"]>;

/** The resources of the machine that the programs of an attempt may use together. */
export type StageResources = {
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly cpus?: number;
  /** By which everything that they may write may grow during the attempt. */
  readonly diskBytes?: number;
};

export type StageLimits = {
  /** No output at all for this long after the start. */
  readonly startupMs?: number;
  /** No further output for this long. */
  readonly idleMs?: number;
  /** For an agent that leads a team, if it is another one. */
  readonly idleTeamMs?: number;
  readonly totalMs: number;
  /** A request for permission waits this long for a person; then it is denied. */
  readonly permissionMs?: number;
  /** A question of the agent waits this long for an answer in place; then the attempt ends with it. */
  readonly questionMs?: number;
  /** More output than this ends the attempt; Passrail keeps no more than this on disk. */
  readonly outputBytes: number;
  /** The same tool call this often in a row ends the attempt; absent: the default of the watching process. */
  readonly sameCalls?: number;
  readonly resources?: StageResources;
};

type StageBase = {
  readonly id: string;
  readonly title?: string;
  readonly when?: string;
  /** Entered only by `enter`, never by next. */
  readonly enterOnly: boolean;
};

/** A stage that does work: an agent, a builtin or the router. */
export type WorkStage = StageBase & {
  readonly kind: "agent" | "builtin" | "router";
  /** The agent's name in lower case; for a builtin its `do`. */
  readonly agent: string;
  /** The agent's name as the flow writes it. */
  readonly shownAgent: string;
  readonly status: { readonly ready?: string; readonly running?: string };
  readonly route: Routes;
  readonly verdicts?: readonly string[];
  /** Whether a missing verdict is a fault (words.unknownVerdict) or means pass. */
  readonly expectsVerdict: boolean;
  readonly result: ResultSpec;
  readonly limits: StageLimits;
  readonly prompt: readonly string[];
  readonly instruction?: string;
  readonly promptFile?: string;
  readonly vars: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly produces: readonly string[];
  readonly payload: readonly string[];
  /** Globs of the files that it may change, or the project's tests; absent: all files. An empty list makes it read-only. */
  readonly mayChange?: readonly string[] | typeof TEST_FILES;
  /** The notes that a pass must have left in a file of the branch. */
  readonly notes?: NonNullable<StageFile["notes"]>;
  /** Files that leave the branch, or move, with a pass. */
  readonly retires?: NonNullable<StageFile["retires"]>;
  /** The rows of the task's Definition of Done that it accounts for. */
  readonly covers?: NonNullable<StageFile["covers"]>;
  /** The stage whose met rows it checks. */
  readonly verifies?: string;
  readonly inline: readonly string[];
  readonly carryOnRetry: readonly string[];
  readonly model?: string;
  readonly bundle?: string;
  readonly turns?: number | { readonly alone: number; readonly team: number };
  readonly teams: boolean;
  /** How its agent is played, as far as the flow sets it. */
  readonly options?: WrittenOptions;
  /** A follow-up that works in another stage's workspace before the run moves on. */
  readonly sameWorkspaceAs?: string;
  readonly workspace?: WorkspacePlan;
  readonly yields: boolean;
  readonly concurrency?: number;
  readonly command?: readonly string[];
  readonly fallback: RouterFallback;
  /** Settings of a builtin, under the names of the file. */
  readonly settings: {
    readonly first_status?: string;
    readonly in?: string;
    readonly last?: string;
    readonly max?: number;
  };
  /** The foreach stage whose current box this stage works on. */
  readonly row?: string;
  /** Checks that Passrail runs after a pass; absent if the flow asks for none. */
  readonly checks?: NonNullable<StageFile["checks"]>;
  /** Met criteria without evidence contradict a pass. */
  readonly evidence?: "required";
  /** Which quality gates to run again (002's trust contract). */
  readonly gates?: NonNullable<StageFile["gates"]>;
  readonly maxTokens?: number;
  /** Its result is kept, and reused where everything that it followed from is the same; absent: not. */
  readonly memo?: boolean;
  /** Its findings have ids that later reviews answer for, or are identified by the row that each is about; absent: neither. */
  readonly findings?: "ids" | "rows";
};

export type GateStage = StageBase & {
  readonly kind: "gate";
  readonly who: string;
  readonly status?: string;
  readonly route: Routes;
  readonly notify: { readonly to: string; readonly event: string };
};

export type TrackPlan = { readonly workspace?: WorkspacePlan; readonly stages: readonly WorkStage[] };

export type ParallelStage = StageBase & {
  readonly kind: "parallel";
  readonly tracks: Readonly<Record<string, TrackPlan>>;
  /** Tracks that must be done before the run continues. */
  readonly join: readonly string[];
};

export type DynamicStage = StageBase & {
  readonly kind: "dynamic";
  /** Facts in order of preference: an agent's name, or a router's list. */
  readonly from: readonly string[];
  readonly templates: Readonly<Record<string, WorkStage>>;
  /** The agents that a router may choose, once the flow is resolved with its agents; absent in flows of earlier versions. */
  readonly pool?: readonly string[];
};

/** Templates for agents that the flow does not name: any, and those that judge the work of others. */
export const ANY_TEMPLATE = "*";
export const JUDGE_TEMPLATE = "*judge";

export type Stage = WorkStage | GateStage | ParallelStage | DynamicStage;

/** A fact that names a file or a folder of the project. */
export type FlowInput = {
  /** `plan.spec` */
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly required: boolean;
  readonly about?: string;
  readonly states: readonly StatedFact[];
  /** The name for `--repo NAME=FOLDER`. */
  readonly repository?: string;
};

/** A fact that a file states under one of these labels; without words to choose from it is yes or no. */
export type StatedFact = {
  readonly fact: string;
  readonly labels: readonly string[];
  readonly oneOf: readonly string[] | "yes-no";
};

export type EntryRule = { readonly when?: string; readonly stage: string };

export type Flow = {
  readonly name: string;
  readonly version: number;
  readonly title?: string;
  readonly description?: string;
  readonly subject: string;
  readonly aliases?: readonly string[];
  /** The fact that names a single agent. */
  readonly agentInput?: string;
  readonly chooseWhen?: string;
  /** The name that it shares with the other flows of its family. */
  readonly family?: string;
  /** The files and folders that a start names, by fact, in reading order. */
  readonly inputs?: readonly FlowInput[];
  readonly preflight?: NonNullable<FlowFile["preflight"]>;
  readonly bundles?: {
    readonly rules: readonly string[];
    readonly maxLines: Readonly<Record<string, number>>;
  };
  readonly words: Words;
  readonly counters: Readonly<Record<string, Counter>>;
  readonly escalation: {
    readonly notify: string;
    readonly status?: string;
    readonly choices: Readonly<Record<string, string>>;
  };
  readonly workspace: WorkspacePlan;
  readonly enter: Readonly<Record<string, readonly EntryRule[]>>;
  readonly handoffs: {
    readonly entry?: string;
    readonly exit?: string;
    readonly staleAfterMs: number;
    /** Work that an agent outside has taken is taken back after this long without a sign of life; absent: never. */
    readonly leaseMs?: number;
    /** How often in a row (default 2); then a person is asked. */
    readonly takebacks?: number;
    /** Where in the workspace handoff files are; absent: in the attempt's own folders. */
    readonly path?: string;
    /** Whether they are committed with the work. */
    readonly commit?: boolean;
  };
  readonly log: { readonly start?: string; readonly end?: string; readonly done?: string };
  readonly maxInterruptions: number;
  readonly allowUngated: boolean;
  readonly merge?: FlowFile["merge"];
  readonly pick?: FlowFile["pick"];
  /** Checks that the flow defines itself, by name; absent if there are none. */
  readonly checks?: Readonly<Record<string, CheckDefinition>>;
  readonly stages: readonly Stage[];
};

export const MAIN_TRACK = "main";
const DEFAULT_TOTAL_MS = 30 * 60_000;
const DEFAULT_OUTPUT_BYTES = 10 * 1024 * 1024;
const DEFAULT_PROMPT = ["agent", "ticket", "constraints", "handoffs", "history", "output-format", "revision-context"];
const CANONICAL_VERDICTS: Words["verdict"] = {
  pass: "pass",
  revise: "revise",
  redesign: "redesign",
  reject: "reject",
  exhausted: "exhausted",
};
const CANONICAL_HEALTHS: Words["health"] = {
  complete: "complete",
  blocked: "blocked",
  failed: "failed",
  incomplete: "incomplete",
};

export function isWildcard(template: string): boolean {
  return template === ANY_TEMPLATE || template === JUDGE_TEMPLATE;
}

/** Expands a valid flow file. `checkFlow` must have accepted it. */
export function resolveFlow(file: FlowFile): Flow {
  const stages = withForeach(
    file,
    file.stages.flatMap((stage) => resolveStage(file, stage)),
  );
  return {
    name: file.flow,
    version: file.version,
    ...optional({ title: file.title, description: file.description }),
    subject: file.subject,
    ...optional({ aliases: file.aliases, agentInput: file.agent_input }),
    ...(file.choose === undefined ? {} : { chooseWhen: file.choose.when, ...optional({ family: file.choose.family }) }),
    ...optional({ inputs: resolveInputs(file.inputs), preflight: file.preflight }),
    ...(file.bundles === undefined
      ? {}
      : { bundles: { rules: file.bundles.rules ?? [], maxLines: file.bundles.max_lines ?? {} } }),
    words: resolveWords(file),
    counters: { ...resolveCounters(file, stages), ...foreachCounters(file) },
    escalation: {
      notify: file.escalation?.notify ?? "owner",
      ...optional({ status: file.escalation?.status }),
      choices: resolveChoices(file.escalation?.choices),
    },
    workspace: { ...file.workspace, ...optional({ branch: file.defaults?.branch }) },
    enter: Object.fromEntries(
      Object.entries(file.enter ?? {}).map(([word, rule]) => [
        word,
        typeof rule === "string" ? [{ stage: rule }] : rule.map(dropUndefined),
      ]),
    ),
    handoffs: {
      ...optional({ entry: file.handoffs?.entry, exit: file.handoffs?.exit }),
      staleAfterMs: durationMs(file.handoffs?.stale_after ?? "30m"),
      ...optional({ leaseMs: leaseMs(file.handoffs?.lease), takebacks: file.handoffs?.takebacks }),
      ...optional({ path: file.handoffs?.path, commit: file.handoffs?.commit }),
    },
    log: dropUndefined(file.log ?? {}),
    maxInterruptions: file.max_interruptions ?? 10,
    allowUngated: file.allow_ungated ?? false,
    ...optional({ merge: file.merge, pick: file.pick }),
    ...(file.checks === undefined ? {} : { checks: checkDefinitions(file.checks) }),
    stages,
  };
}

function resolveInputs(inputs: FlowFile["inputs"]): readonly FlowInput[] | undefined {
  if (inputs === undefined) return undefined;
  return Object.entries(inputs).map(([name, { kind, required = false, about, states = {}, repository }]) => ({
    name,
    kind,
    required,
    ...optional({ about, repository }),
    states: Object.entries(states).map(([fact, { labels, one_of, yes_no }]) => ({
      fact,
      labels,
      oneOf: yes_no === true ? ("yes-no" as const) : (one_of ?? []),
    })),
  }));
}

/** The budget of red checks in stages that have no way of their own for them. */
const CHECKS_COUNTER: Counter = {
  maxLoops: 3,
  scope: "track",
  sameIssues: null,
  onExhausted: "escalate",
  column: null,
  resets: [],
};
const CHECKS_COUNTER_NAME = "checks";

function resolveCounters(file: FlowFile, stages: readonly Stage[]): Flow["counters"] {
  const own = Object.fromEntries(
    Object.entries(file.counters ?? {}).map(([name, counter]) => [name, resolveCounter(counter)]),
  );
  const isCounted = stages.flatMap(worksOf).some(({ route }) => route[CHECKS_FAILED]?.counter === CHECKS_COUNTER_NAME);
  return !isCounted || CHECKS_COUNTER_NAME in own ? own : { ...own, [CHECKS_COUNTER_NAME]: CHECKS_COUNTER };
}

/** The stages of work in a stage of the main sequence. */
export function worksOf(stage: Stage): readonly WorkStage[] {
  switch (stage.kind) {
    case "gate":
      return [];
    case "parallel":
      return Object.values(stage.tracks).flatMap(({ stages }) => stages);
    case "dynamic":
      return Object.values(stage.templates);
    case "agent":
    case "builtin":
    case "router":
      return [stage];
  }
}

function resolveWords(file: FlowFile): Words {
  const words = file.words ?? {};
  const { failed, ...status } = words.status ?? {};
  return {
    verdict: words.verdict ?? CANONICAL_VERDICTS,
    unknownVerdict: words.unknown_verdict ?? "failed",
    health: words.health ?? CANONICAL_HEALTHS,
    unknownHealth: words.unknown_health ?? "complete",
    score: words.score ?? {},
    status: dropUndefined({ ...status, ...optional({ stopped: failed }) }),
  };
}

function leaseMs(lease: string | undefined): number | undefined {
  return lease === undefined || lease === "none" ? undefined : durationMs(lease);
}

function resolveCounter(counter: NonNullable<FlowFile["counters"]>[string]): Counter {
  const maxLoops =
    counter.max_loops ??
    (counter.max_attempts === undefined ? 2 : counter.max_attempts === "none" ? null : counter.max_attempts - 1);
  return {
    maxLoops,
    scope: counter.scope ?? "run",
    sameIssues: null,
    onExhausted: counter.on_exhausted ?? "escalate",
    column: counter.column ?? null,
    resets: counter.resets ?? [],
  };
}

function resolveChoices(choices: NonNullable<FlowFile["escalation"]>["choices"]): Record<string, string> {
  if (choices === undefined) return { again: "again", accept: "accept", cancel: "cancel" };
  return Array.isArray(choices) ? Object.fromEntries(choices.map((name) => [name, name])) : choices;
}

function resolveStage(file: FlowFile, stage: StageFile): Stage[] {
  const base: StageBase = {
    id: stage.id,
    ...optional({ title: stage.title, when: stage.when }),
    enterOnly: stage.reach === "enter-only",
  };
  switch (stage.kind ?? "agent") {
    case "gate":
      return [
        {
          ...base,
          kind: "gate",
          who: stage.who ?? "owner",
          ...(typeof stage.status === "string" ? { status: stage.status } : {}),
          route: resolveRoutes(stage.route ?? { approve: "next", decline: "stop" }),
          notify: stage.notify ?? { to: stage.who ?? "owner", event: "gate" },
        },
      ];
    case "parallel": {
      const tracks = Object.fromEntries(
        Object.entries(stage.tracks ?? {}).map(([name, track]) => [
          name,
          {
            ...optional({ workspace: track.workspace }),
            stages: track.stages.map((inner) => resolveWork(file, inner, inner.kind ?? "agent")),
          },
        ]),
      );
      return [
        { ...base, kind: "parallel", tracks, join: Array.isArray(stage.join) ? stage.join : Object.keys(tracks) },
      ];
    }
    case "dynamic":
      return [
        {
          ...base,
          kind: "dynamic",
          from: stage.from ?? [],
          templates: Object.fromEntries(
            Object.entries(stage.templates ?? {}).map(([agent, template]) => [
              agent.toLowerCase(),
              resolveWork(file, { ...template, id: stage.id, agent: isWildcard(agent) ? "any" : agent }, "agent"),
            ]),
          ),
        },
      ];
    case "foreach":
      return [{ ...resolveWork(file, { ...stage, do: NEXT_ROW }, "builtin"), ...base }];
    case "agent":
    case "builtin":
    case "router": {
      const work = resolveWork(file, stage, (stage.kind ?? "agent") as WorkStage["kind"]);
      const followUps = (stage.then_in_same_workspace ?? []).map((followUp) => ({
        ...resolveWork(file, followUp, "agent"),
        sameWorkspaceAs: stage.id,
        // It belongs to the stage before it: while it works the ticket shows that stage's running word, never its ready word again.
        status: work.status.running === undefined ? {} : { running: work.status.running },
      }));
      return [{ ...work, ...base }, ...followUps];
    }
  }
}

function resolveWork(file: FlowFile, stage: Omit<StageFile, "kind">, kind: WorkStage["kind"]): WorkStage {
  const defaults = file.defaults ?? {};
  const shownAgent = stage.agent ?? stage.do ?? (kind === "router" ? "router" : stage.id);
  const result: ResultSpec =
    stage.result ??
    (kind === "agent" ? defaults.result : undefined) ??
    (kind === "router" ? { from: "router" } : { from: "verdict-file" });
  const route = withChecksRoute(resolveRoutes({ ...defaults.route, ...stage.route }), stage);
  const totalText = stage.limits?.total ?? stage.timeout ?? defaults.limits?.total ?? defaults.timeout;
  const startup = stage.limits?.startup ?? defaults.limits?.startup;
  const idle = stage.limits?.idle ?? defaults.limits?.idle;
  const permission = stage.limits?.permission ?? defaults.limits?.permission;
  const question = stage.limits?.question ?? defaults.limits?.question;
  const output = stage.limits?.output ?? defaults.limits?.output;
  const sameCalls = stage.limits?.same_calls ?? defaults.limits?.same_calls;
  const resources = resourcesOf(stage.limits, defaults.limits);
  const turns = stage.turns ?? defaults.turns;
  const model = stage.model ?? (kind === "agent" ? defaults.model : undefined);
  const workspace = stage.workspace ?? defaults.workspace;
  const concurrency = stage.concurrency ?? defaults.concurrency;
  const command = stage.command ?? defaults.command;
  const { teams, ...options } = optionsOf(defaults, stage);
  const running = stage.phase ?? (typeof stage.status === "string" ? stage.status : undefined);
  return {
    id: stage.id,
    ...optional({ title: stage.title, when: stage.when }),
    enterOnly: false,
    kind,
    agent: shownAgent.toLowerCase(),
    shownAgent,
    status:
      typeof stage.status === "object" && !("when" in stage.status)
        ? dropUndefined(stage.status)
        : running === undefined
          ? {}
          : { running },
    route,
    ...optional({ verdicts: stage.verdicts }),
    expectsVerdict: expectsVerdict(stage, result, kind),
    result,
    limits: {
      ...(startup === undefined ? {} : { startupMs: durationMs(startup) }),
      ...idleLimits(idle),
      totalMs: totalText === undefined ? DEFAULT_TOTAL_MS : durationMs(totalText),
      ...(permission === undefined ? {} : { permissionMs: durationMs(permission) }),
      ...(question === undefined ? {} : { questionMs: durationMs(question) }),
      outputBytes: output === undefined ? DEFAULT_OUTPUT_BYTES : sizeBytes(output),
      ...optional({ sameCalls, resources }),
    },
    prompt: Array.isArray(stage.prompt) ? stage.prompt : (defaults.prompt ?? DEFAULT_PROMPT),
    ...(typeof stage.prompt === "string" ? { instruction: stage.prompt } : {}),
    ...optional({ promptFile: stage.prompt_file }),
    vars: stage.vars ?? defaults.vars ?? [],
    reads: stage.reads ?? [],
    writes: stage.writes ?? [],
    produces: stage.produces ?? [],
    payload: stage.payload ?? [],
    ...optional({ mayChange: stage.may_change, notes: stage.notes, retires: stage.retires }),
    ...optional({ covers: stage.covers, verifies: stage.verifies }),
    inline: stage.inline ?? [],
    carryOnRetry: stage.carry_on_retry ?? [],
    ...optional({ model, bundle: stage.bundle, turns }),
    teams: teams ?? false,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...optional({ workspace }),
    yields: stage.yield ?? defaults.yield ?? false,
    ...optional({ concurrency, command }),
    fallback: stage.fallback ?? "rules",
    settings: optional({ first_status: stage.first_status, in: stage.in, last: stage.last, max: stage.max }),
    ...optional({ checks: stage.checks, evidence: stage.evidence, gates: stage.gates, maxTokens: stage.max_tokens }),
    ...optional({ findings: stage.findings, memo: stage.memo }),
  };
}

function resourcesOf(own: StageFile["limits"], general: StageFile["limits"]): StageResources | undefined {
  const memory = own?.memory ?? general?.memory;
  const processes = own?.processes ?? general?.processes;
  const cpus = own?.cpus ?? general?.cpus;
  const disk = own?.disk ?? general?.disk;
  if ([memory, processes, cpus, disk].every((limit) => limit === undefined)) return undefined;
  const bytes = (size: string | undefined): number | undefined => (size === undefined ? undefined : sizeBytes(size));
  return optional({ memoryBytes: bytes(memory), processes, cpus, diskBytes: bytes(disk) });
}

function idleLimits(idle: NonNullable<StageFile["limits"]>["idle"]): Pick<StageLimits, "idleMs" | "idleTeamMs"> {
  if (idle === undefined) return {};
  if (typeof idle === "string") return { idleMs: durationMs(idle) };
  return { idleMs: durationMs(idle.alone), idleTeamMs: durationMs(idle.team) };
}

/** A red check goes the way of `revise`; a stage that cannot send work back does it again itself, counted. */
function withChecksRoute(route: Routes, { checks, evidence }: Omit<StageFile, "kind">): Routes {
  if ((checks ?? evidence) === undefined || CHECKS_FAILED in route || "revise" in route) return route;
  return { ...route, [CHECKS_FAILED]: { ...plainRoute("self"), counter: CHECKS_COUNTER_NAME, carry: ["issues"] } };
}

/** Options set by the stage or the flow's defaults; a flow without any keeps its resolved form, and so its hash. */
function optionsOf(...sources: readonly WrittenSource[]): WrittenOptions {
  const entries = OPTIONS.flatMap((key) => {
    const said = sources.map((source) => source[key]).findLast((value) => value !== undefined);
    return said === undefined ? [] : [[key, said]];
  });
  return Object.fromEntries(entries) as WrittenOptions;
}

type WrittenSource = Pick<StageFile, keyof typeof agentOptionKeys>;

// Listed by hand, so that code that only reads runs need not load the schema; a test compares the two.
export const OPTIONS: readonly (keyof WrittenSource)[] = [
  "runner",
  "transport",
  "effort",
  "tools",
  "deny_tools",
  "permission",
  "max_cost",
  "system_prompt",
  "mcp",
  "teams",
  "session",
  "questions",
];

/** 002: a stage that can send work back must give a verdict; one that only works (n/a) need not. */
function expectsVerdict(stage: Omit<StageFile, "kind">, result: ResultSpec, kind: WorkStage["kind"]): boolean {
  // A program's exit code is its verdict, whatever the words of the flow's agents.
  if (kind !== "agent" || result.from === "exit-code") return false;
  if (stage.verdicts !== undefined) return true;
  switch (result.from) {
    case "json-tail":
    case "file-verdict":
    case "handoff-api":
    case "prefix":
      return true;
    case "handoff-file":
    case "verdict-file":
      return stage.route !== undefined && ("revise" in stage.route || "redesign" in stage.route);
    case "work-result":
    case "router":
      return false;
  }
}

/** The counter of a stage that judges. Red checks are counted apart: they make no judge of a stage that only works. */
export function judgingCounter({ route }: Pick<WorkStage, "route">): string | undefined {
  return Object.entries(route).find(([key, { counter }]) => key !== CHECKS_FAILED && counter !== undefined)?.[1]
    .counter;
}

/** A route that only leads: it has no counter, no question and no carry. */
export function plainRoute(goto: string): Route {
  return { goto, carry: [], onlyBlamed: false, once: false };
}

function resolveRoutes(routes: Readonly<Record<string, string | RouteFile | undefined>>): Routes {
  return Object.fromEntries(
    Object.entries(routes).flatMap(([key, route]) => (route === undefined ? [] : [[key, resolveRoute(route)]])),
  );
}

function resolveRoute(route: string | RouteFile): Route {
  if (typeof route === "string") return plainRoute(route);
  return {
    goto: route.goto ?? route.then ?? (route.ask === undefined ? "next" : "self"),
    ...optional({ counter: route.counter }),
    carry: route.carry ?? [],
    ...optional({ status: route.status }),
    ...(route.ask === undefined
      ? {}
      : { ask: dropUndefined({ who: route.ask, show: route.show, choices: route.choices }) }),
    ...optional({ else: route.else }),
    onlyBlamed: route.only === "blamed-tracks",
    once: route.once ?? false,
    ...optional({ undo: route.undo }),
  };
}

const UNITS: Readonly<Record<string, number>> = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

function sizeBytes(text: string): number {
  return Number(text.slice(0, -2)) * (UNITS[text.slice(-2).toLowerCase()] ?? 1);
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Optional keys of a parsed file may have the value undefined; stored data has only keys with values. */
function dropUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>;
}
