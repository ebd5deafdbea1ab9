// Starts the driver, kills it (its own process only, as a crash would), starts it again. Each scenario gets a folder of its own with a
// store, a repository and the agents' scripts. What must hold afterwards is in invariants.ts.

import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killLeftovers } from "../../src/runner/process/kill-tree.ts";
import { readCarrierNotes } from "../../src/carrier/places.ts";
import { findMarked, isAlive } from "../../src/runner/process/process-table.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { onlyStages } from "../harness/custom-flow.ts";
import { CRASH_DRIVER } from "../harness/program.ts";
import { resolveShipped } from "../harness/shipped-catalog.ts";
import { dropStore, endLease, storeEnvironment } from "../harness/test-store.ts";
import { configure, newRemote, newRepository } from "../harness/new-repository.ts";
import { FLOW_FILE, type Scenario } from "./scenarios.ts";
import { optional } from "../../src/core/optional.ts";

/** Code that was compiled once: half of a short life would else be spent on it. */
const COMPILED = join(import.meta.dirname, "../../node_modules/.cache/passrail-crash");
/** A driver that stores nothing for so long is stuck. A busy machine makes each step slow, and a scenario has a hundred. */
const PATIENCE_MS = 60_000;

export type Stage = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly scenario: Scenario;
};

export type Drive = {
  /** How the process ended: "settled" only if it said so and exited 0. */
  readonly end: "settled" | "killed" | "failed";
  readonly output: string;
  /** From the first line of the program to a recovered engine; null when it did not come that far. */
  readonly readyMs: number | null;
  readonly settledMs: number | null;
  /** How many processes of attempts were killed. */
  readonly carriersKilled: number;
};

export const remoteOf = (dir: string): string => join(dir, "remote.git");

export function openStage(scenario: Scenario): Stage {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-crash-")));
  const project = newRepository(dir);
  configure(join(project, ".git"), "user", { name: "player", email: "player@localhost" });
  configure(join(project, ".git"), "gc", { auto: "0" });
  if (scenario.remote === true) newRemote(project, remoteOf(dir));
  for (const { runId, flow, stages, script } of scenario.runs) {
    const folder = join(dir, "script", runId);
    mkdirSync(folder, { recursive: true });
    // Once for all lives: the driver would read and check it in each.
    const resolved = stages === undefined ? resolveShipped(flow) : onlyStages(flow, stages);
    writeFileSync(join(folder, FLOW_FILE), JSON.stringify(resolved));
    for (const [key, { says, does, hands }] of Object.entries(script)) {
      if (hands !== undefined) writeFileSync(join(folder, `${key}.md`), hands);
      if (says !== undefined) writeFileSync(join(folder, `${key}.json`), JSON.stringify(says));
      if (does !== undefined) writeFileSync(join(folder, `${key}.sh`), does);
    }
  }
  return { dir, home: join(dir, "home"), project, scenario };
}

/** Removes the folder, and first whatever still works in it. */
export async function closeStage({ dir, home }: Stage): Promise<void> {
  for (const { marker } of findMarked(`${storeMark(home)}/`)) await killLeftovers({ marker });
  await dropStore(home);
  rmSync(dir, { recursive: true, force: true });
}

/** When the driver is killed: so long after it has begun (opening, recovering), is ready, or has started an attempt, unless it has ended by then. */
export type Kill = { readonly since: "begun" | "ready" | "working"; readonly afterMs: number };

export type DriveOptions = {
  readonly kill?: Kill;
  readonly failpoint?: string;
  /** Each attempt gets a process of its own. */
  readonly own?: boolean;
  readonly killCarriers?: readonly number[];
  /** Of another build. */
  readonly driver?: string;
  /** Called again and again with what the driver has said; true kills it. */
  readonly watch?: (output: string) => boolean;
};

const WATCH_MS = 50;

/** Lets the driver work, to its end or to its death. */
export async function drive(stage: Stage, options: DriveOptions = {}): Promise<Drive> {
  await endLease(stage.home);
  const database = await storeEnvironment(stage.home);
  const child = spawn(process.execPath, [options.driver ?? CRASH_DRIVER, stage.dir, stage.scenario.name], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILED,
      // Not the settings of the person who runs the tests.
      XDG_CONFIG_HOME: join(stage.dir, "config"),
      ...database,
      ...optional({ PASSRAIL_FAILPOINT: options.failpoint }),
      // Commands are carried out by the engine unless the settings say otherwise.
      ...(options.own === true ? { PASSRAIL_ATTEMPT_PROCESS: "own" } : {}),
    },
  });
  let output = "";
  const seenAt: Record<string, number> = {};
  let killTimer: NodeJS.Timeout | undefined;
  const onText = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const word of ["begun", "ready", "working", "settled"])
      if (output.includes(`${word}\n`)) seenAt[word] ??= performance.now();
    if (options.kill !== undefined && seenAt[options.kill.since] !== undefined) {
      killTimer ??= setTimeout(() => child.kill("SIGKILL"), options.kill.afterMs);
    }
  };
  const carriers = killCarriers(stage, options.killCarriers ?? []);
  child.stdout.on("data", onText);
  child.stderr.on("data", onText);
  const lateTimer = killIfStuck(
    stage,
    child,
    () => (output += `\nnot settled, and nothing stored for ${PATIENCE_MS} ms`),
  );
  const watching = setInterval(() => options.watch?.(output) === true && child.kill("SIGKILL"), WATCH_MS);
  const { code, signal } = await ended(child);
  clearInterval(watching);
  const carriersKilled = carriers.stop();
  clearTimeout(killTimer);
  clearInterval(lateTimer);
  const since = (word: string): number | null =>
    seenAt[word] === undefined ? null : Math.round(seenAt[word] - (seenAt["begun"] ?? 0));
  const isSettled = code === 0 && seenAt["settled"] !== undefined;
  const isKilled = signal === "SIGKILL" && !output.includes("not settled");
  return {
    end: isSettled ? "settled" : isKilled ? "killed" : "failed",
    output,
    readyMs: since("ready"),
    settledMs: since("settled"),
    carriersKilled,
  };
}

function killIfStuck({ dir }: Stage, child: ChildProcess, onStuck: () => void): NodeJS.Timeout {
  const stored = join(dir, "acknowledged");
  const sizeNow = (): number => statSync(stored, { throwIfNoEntry: false })?.size ?? 0;
  let [size, since] = [sizeNow(), performance.now()];
  return setInterval(() => {
    if (sizeNow() !== size) [size, since] = [sizeNow(), performance.now()];
    if (performance.now() - since < PATIENCE_MS) return;
    onStuck();
    child.kill("SIGKILL");
  }, 1000);
}

/** Kills a process of an attempt after each of these pauses; a pause begins when one is there. Its agent is left alive, as a crash would. */
function killCarriers({ home }: Stage, pauses: readonly number[]): { readonly stop: () => number } {
  const left = [...pauses];
  let killed = 0;
  let since: number | undefined;
  const timer = setInterval(() => {
    const [pause] = left;
    if (pause === undefined) return clearInterval(timer);
    const living = existsSync(join(home, "carriers")) ? readCarrierNotes(home).filter(isAlive) : [];
    // A spare one is among them; killing it must do no harm, either.
    const picked = living[Math.floor(living.length / 2)];
    if (picked === undefined) return;
    since ??= performance.now();
    if (performance.now() - since < pause) return;
    process.kill(picked.pid, "SIGKILL");
    killed += 1;
    left.shift();
    since = undefined;
  }, 10);
  return {
    stop: () => {
      clearInterval(timer);
      return killed;
    },
  };
}

/** A text that the driver or an agent wrote beside the store; "" when nobody did. */
export function readNotes(stage: Stage, ...path: string[]): string {
  const file = join(stage.dir, ...path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

// "close" and not "exit": only then its last line has been read. Agents that outlive it hold none of its pipes.
function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}
