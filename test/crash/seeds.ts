// One seed is one story of crashes: which scenario, how many kills, when each comes. The same seed tells the same story (as far as a
// machine's timing allows), so that a failure can be repeated: PASSRAIL_CRASH_FROM=<seed> PASSRAIL_CRASH_SEEDS=1.

import { closeStage, drive, openStage, type Stage, type Kill } from "./drive.ts";
import { type Ending, inspect, type Inspection, type Violation } from "./invariants.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

export type SeedResult = {
  readonly seed: number;
  readonly story: string;
  readonly violations: readonly Violation[];
  readonly kills: number;
  readonly interruptions: number;
  /** From the last start to a recovered engine, and to everything settled. */
  readonly readyMs: number;
  readonly settledMs: number;
};

/** A restarted engine has sorted out what it found within this time (P6). */
const READY_WITHIN_MS = 10_000;
/** Attempts are short: a kill that is to cut one off comes soon after its start, however slow the machine is. */
const KILL_WORK_WITHIN_MS = 80;
/** The kills come within this time after the program has begun, or after its engine is ready. */
const KILL_WITHIN_MS = 500;

/** How each scenario ends without a crash; made once, compared with often. */
export async function endings(names: Iterable<string>): Promise<ReadonlyMap<string, Ending>> {
  const found = new Map<string, Ending>();
  for (const name of names) {
    const stage = openStage(scenarioOf(name));
    try {
      const { end, output } = await drive(stage);
      const { ending, violations } = await inspect(stage);
      const unfinished = Object.entries(ending).filter(([, { status }]) => status !== "completed");
      if (end !== "settled" || violations.length > 0 || unfinished.length > 0) {
        throw new Error(
          `${name} does not even end without a crash: ${output}\n${JSON.stringify([violations, unfinished], null, 1)}`,
        );
      }
      found.set(name, ending);
    } finally {
      await closeStage(stage);
    }
  }
  return found;
}

/** Every seed in [from, from + count), a few at a time; `onResult` hears of each as it ends. */
export async function runSeeds(
  from: number,
  count: number,
  atOnce: number,
  onResult: (result: SeedResult) => void = () => {},
): Promise<readonly SeedResult[]> {
  const expected = await endings(PICKED);
  const results: SeedResult[] = [];
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + count) {
      const result = await runSeed(next++, expected);
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results.sort((a, b) => a.seed - b.seed);
}

async function runSeed(seed: number, expected: ReadonlyMap<string, Ending>): Promise<SeedResult> {
  const random = randomOf(seed);
  const scenario = scenarioOf(pick(random()));
  const stage = openStage(scenario);
  const violations: Violation[] = [];
  const moments: string[] = [];
  let kills = 0;
  try {
    const planned = 1 + Math.floor(random() * 4);
    for (let kill = 0; kill < planned; kill++) {
      const since = sinceOf(random());
      const afterMs = Math.floor(random() * (since === "working" ? KILL_WORK_WITHIN_MS : KILL_WITHIN_MS));
      const { end, output } = await drive(stage, { kill: { since, afterMs } });
      moments.push(`${afterMs} ms after ${since}`);
      if (end === "failed") violations.push({ invariant: "quiet", what: `the program failed: ${output}` });
      if (end === "killed") kills += 1;
    }
    const last = await drive(stage);
    if (last.end !== "settled")
      violations.push({ invariant: "same", what: `the last start did not settle: ${last.output}` });
    if ((last.readyMs ?? 0) > READY_WITHIN_MS)
      violations.push({ invariant: "same", what: `recovery took ${last.readyMs} ms` });
    const seen = await inspectOrSay(stage, expected.get(scenario.name));
    violations.push(...seen.violations);
    const story = `${scenario.name}, killed ${moments.join(", ")}`;
    return {
      seed,
      story,
      violations,
      kills,
      interruptions: seen.interruptions,
      readyMs: last.readyMs ?? 0,
      settledMs: last.settledMs ?? 0,
    };
  } finally {
    await closeStage(stage);
  }
}

function sinceOf(chance: number): Kill["since"] {
  if (chance < 0.3) return "begun";
  return chance < 0.6 ? "ready" : "working";
}

/** A store that cannot even be opened is a finding of this seed, not the end of all others. */
async function inspectOrSay(stage: Stage, expected: Ending | undefined): Promise<Inspection> {
  try {
    return await inspect(stage, expected);
  } catch (error) {
    return { ending: {}, interruptions: 0, violations: [{ invariant: "I7", what: String(error) }] };
  }
}

export function describeFailure({ seed, story, violations }: SeedResult): string {
  const lines = violations.map(({ invariant, what }) => `  ${invariant}: ${what}`);
  return [`seed ${seed} (${story}); repeat it: npm run crash -- --from ${seed} --seeds 1`, ...lines].join("\n");
}

/** "p50 12 ms, p99 40 ms, max 61 ms" */
export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${sorted.at(-1) ?? 0} ms`;
}

export function scenarioOf(name: string): Scenario {
  const scenario = SCENARIOS[name];
  if (scenario === undefined)
    throw new Error(`there is no scenario ${name}; known: ${Object.keys(SCENARIOS).join(", ")}`);
  return scenario;
}

/** The scenarios that seeds pick. */
const PICKED = ["feature", "routed", "complex", "several"] as const;

/** The long ones seldom, so that many seeds fit into a check. */
function pick(chance: number): (typeof PICKED)[number] {
  if (chance < 0.5) return "feature";
  if (chance < 0.84) return "routed";
  return chance < 0.95 ? "complex" : "several";
}

/** Mulberry32: small, and the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
