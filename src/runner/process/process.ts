// The life of one attempt's program, from the start to the last of its processes: start, watch, end, sweep, report. It handles limits and
// bytes, not flows, verdicts or kinds of agents.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Writable } from "node:stream";
import type { Enclosure } from "../../core/flow/enclosure.ts";
import { optional } from "../../core/optional.ts";
import { err, messageOf, ok, type Result } from "../../core/result.ts";
import { createCgroup, killCgroup, removeCgroup, startInside, untilStill } from "./cgroup.ts";
import { collectOutput } from "./collect-output.ts";
import { describeEnd } from "./describe-end.ts";
import { enclosureHere, inNamespace } from "./enclose.ts";
import { endTree, killGroup } from "./kill-tree.ts";
import { openOutputFile } from "./output-file.ts";
import { identify } from "./process-table.ts";
import { inScope } from "./scope.ts";
import {
  type AttemptEnd,
  type AttemptHooks,
  type AttemptSpec,
  type ConfinedLaunch,
  MARKER_VARIABLE,
  type ProcessIdentity,
} from "../runner.ts";
import { type DiskWatch, openDiskWatch } from "./watch-disk.ts";
import { watchLimits } from "./watch-limits.ts";

/** Output beyond the cap is only left out of the file; more than this many times the cap ends the attempt. */
const HARD_OUTPUT_FACTOR = 20;

/** For reading the pipes after the process has ended: a descendant may hold them open for ever. */
const DRAIN_MS = 200;
const LAST_TURNS = 3;
/** Between the death of a process and Node's exit event. */
const EXIT_NEWS_MS = 1_000;
/** For a program to exit after its conversation is over. */
const LEAVE_MS = 2_000;

/** The conversation with a program, for runners that exchange more than a prompt and its output. */
export type ProcessTalk = {
  /** Called once, when the start has been recorded. The callee ends stdin; `finish` ends the conversation. */
  readonly begin?: (stdin: Writable, finish: () => void) => void;
  /** Every piece of stdout, with secrets removed. */
  readonly onStdout?: (chunk: Uint8Array) => void;
  /** The same for stderr, where some programs say what they wait for. */
  readonly onStderr?: (chunk: Uint8Array) => void;
};

/** Runs `executable` (an absolute path) with the arguments of the spec. Resolves when the whole tree is gone. */
export const runProcess = async (
  executable: string,
  spec: AttemptSpec,
  hooks: AttemptHooks,
  talk: ProcessTalk = {},
): Promise<AttemptEnd> => {
  const { limits } = spec;
  if (hooks.signal.aborted) return notStarted("canceled", "Canceled before it was started.");
  const opened = openOutputFile(spec.outputPath, limits.outputBytes);
  if (!opened.ok) return notStarted("spawn_failed", opened.error.message);
  const output = opened.value;
  const startedAt = performance.now();
  const started = await start(executable, spec, hooks.signal);
  if (!started.ok) {
    output.finish();
    return notStarted(hooks.signal.aborted ? "canceled" : "spawn_failed", started.error);
  }
  const { child, identity, exited, disk } = started.value;

  const ending = watchEnding(exited, hooks.signal);
  const preparation = watchPreparation(started.value.begun);
  const clocks = watchLimits(limits, ending.end, () => (hooks.heldMs?.() ?? 0) + preparation.ms());
  const collected = collectOutput(child, output, {
    redactor: spec.redactor,
    onStdout: talk.onStdout,
    onStderr: talk.onStderr,
    hardBytes: limits.outputBytes * HARD_OUTPUT_FACTOR,
    sawOutput: clocks.sawOutput,
    onFlood: () => ending.end("output_limit"),
  });
  const recorded = tellStarted(hooks, identity).then(() => {
    if (ending.hasBegun()) return;
    if (talk.begin === undefined) child.stdin.end(spec.prompt);
    else talk.begin(child.stdin, () => ending.end("finished"));
  });
  recorded.catch(() => ending.end("canceled"));
  disk?.begin(() => ending.end("disk_limit"));

  try {
    const first = await ending.reason;
    clocks.stop();
    const survivors = await endProcess(started.value, ending, first, limits.graceMs);
    collected.end();
    // The start is recorded before the end is reported; if that failed, it is the caller's error.
    await recorded;
    const kept = output.finish();
    const exit = ending.exit();
    const said = first === "exited" ? exitReason(exit, spec, preparation.isFailed()) : first;
    const reason = said === "exited" && (await disk?.isFull()) === true ? "disk_limit" : said;
    const tails = collected.tails();
    return {
      reason,
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      durationMs: Math.round((exit?.at ?? performance.now()) - startedAt),
      outputBytes: output.totalBytes(),
      truncated: kept.truncated,
      ...tails,
      detail: describeEnd({ reason, exit, spec, survivors, fileProblem: kept.problem, stderr: tails.stderrTail }),
      process: identity,
    };
  } catch (error) {
    // Our own failure must not leave the agent running. Until its exit is reported, the pid is certainly its own.
    if (ending.exit() === undefined) killGroup(identity.pid);
    if (identity.cgroup !== undefined) killCgroup(identity.cgroup);
    await drain(child);
    if (identity.cgroup !== undefined) removeCgroup(identity.cgroup);
    output.finish();
    throw error;
  } finally {
    clocks.stop();
    disk?.stop();
    ending.release();
  }
};

type Ending = {
  /** The first reason wins; a later one (such as the exit after our TERM) is only recorded beside it. */
  readonly end: (why: AttemptEnd["reason"]) => void;
  readonly reason: Promise<AttemptEnd["reason"]>;
  readonly hasBegun: () => boolean;
  /** Undefined as long as the process has not exited. */
  readonly exit: () => Exit | undefined;
  readonly release: () => void;
};

function watchEnding(exited: Promise<Exit>, signal: AbortSignal): Ending {
  const stop = Promise.withResolvers<AttemptEnd["reason"]>();
  let hasBegun = false;
  let exit: Exit | undefined;
  const end = (why: AttemptEnd["reason"]): void => {
    hasBegun = true;
    stop.resolve(why);
  };
  void exited.then((how) => {
    exit = how;
    end(how.signal === null ? "exited" : "signaled");
  });
  const onAbort = (): void => end("canceled");
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  return {
    end,
    reason: stop.promise,
    hasBegun: () => hasBegun,
    exit: () => exit,
    release: () => signal.removeEventListener("abort", onAbort),
  };
}

/** Ends the whole tree and reads the rest of the pipes; returns the processes that survived. */
async function endProcess(
  { child, identity, exited }: Started,
  ending: Ending,
  reason: AttemptEnd["reason"],
  graceMs: number,
): Promise<Awaited<ReturnType<typeof endTree>>["survivors"]> {
  if (reason === "finished" && ending.exit() === undefined) {
    // Closing stdin lets the program exit on its own and save its session.
    child.stdin.end();
    await within(exited, Math.min(graceMs, LEAVE_MS));
  }
  const tree = await endTree(identity, ending.exit() === undefined ? graceMs : 0);
  await within(exited, EXIT_NEWS_MS);
  await drain(child);
  return tree.survivors;
}

/** The code of a program in a container that was killed, which Passrail did not do. An engine's own word for it is not there with every system. */
const KILLED_INSIDE = 137;

/** The code of a program that stands for one in a sandbox far away, and lost it. */
const SANDBOX_FAILED = 70;

function exitReason(exit: Exit | undefined, { limits }: AttemptSpec, isSandboxFailed: boolean): AttemptEnd["reason"] {
  if (isSandboxFailed && exit?.code === SANDBOX_FAILED) return "sandbox_failed";
  return exit?.code === KILLED_INSIDE && limits.resources?.memoryBytes !== undefined ? "memory_limit" : "exited";
}

/** A sandbox that takes longer has its own limits. */
const PREPARATION_MS = 20 * 60_000;

/** How long the sandbox took until the agent's own program began, so far. */
function watchPreparation(begun: string | undefined): { ms(): number; isFailed(): boolean } {
  const since = performance.now();
  let took = begun === undefined ? 0 : undefined;
  const ms = (): number => {
    const now = Math.min(performance.now() - since, PREPARATION_MS);
    if (took === undefined && begun !== undefined && existsSync(begun)) took = now;
    return took ?? now;
  };
  return { ms, isFailed: () => begun !== undefined && !existsSync(begun) };
}

/** The end of an attempt that never had a process. */
export const notStarted = (reason: "agent_not_found" | "spawn_failed" | "canceled", detail: string): AttemptEnd => ({
  reason,
  exitCode: null,
  signal: null,
  durationMs: 0,
  outputBytes: 0,
  truncated: false,
  stdoutTail: "",
  stdoutWhole: true,
  stderrTail: "",
  detail,
  process: null,
});

export type Exit = { readonly code: number | null; readonly signal: string | null; readonly at: number };

type Started = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<Exit>;
  readonly begun?: string;
  readonly disk?: DiskWatch;
};

const start = async (found: string, spec: AttemptSpec, signal: AbortSignal): Promise<Result<Started, string>> => {
  const launch = await confined(found, spec);
  if (!launch.ok) return launch;
  await untilStill();
  if (signal.aborted) return err("Canceled before it was started.");
  const enclosed = enclose(launch.value, spec);
  if (!enclosed.ok) return enclosed;
  const watched = await diskWatch(launch.value, spec);
  if (!watched.ok) return watched;
  const { cgroup } = enclosed.value;
  const [executable] = enclosed.value.launch.argv;
  let child: ChildProcessWithoutNullStreams;
  try {
    const starting = () => spawnProgram(enclosed.value.launch);
    // A scope is entered by the child.
    const isMade = cgroup !== undefined && enclosed.value.enclosure === "cgroup";
    child = isMade ? startInside(cgroup, starting) : starting();
  } catch (error) {
    if (cgroup !== undefined) removeCgroup(cgroup);
    return err(spawnProblem(executable, error));
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal, at: performance.now() }));
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error]: unknown[] = await once(child, "error");
    if (cgroup !== undefined) removeCgroup(cgroup);
    return err(spawnProblem(executable, error));
  }
  // The program may close its stdin unread or exit early; only its exit matters.
  for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on("error", () => {});
  try {
    // Even if it has already ended: Node has had no turn yet to collect it, so the pid is still its own.
    const { enclosure } = enclosed.value;
    const startTime = identify(pid) ?? "";
    const identity = { pid, startTime, marker: spec.marker, ...optional({ cgroup, enclosure }) };
    return ok({ child, exited, identity, ...optional({ begun: launch.value.begun, disk: watched.value }) });
  } catch (error) {
    // For example too many open files: a process without a known identity must not stay.
    killGroup(pid);
    if (cgroup !== undefined) killCgroup(cgroup);
    throw error;
  }
};

function spawnProgram({ argv, cwd, env }: ConfinedLaunch): ChildProcessWithoutNullStreams {
  const [executable, ...args] = argv;
  return spawn(executable, args, {
    cwd,
    // Node passes this one variable to children unless it is set here.
    env: { NODE_V8_COVERAGE: undefined, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    // Its own session and group: ended as a whole, and not by a Ctrl-C meant for us.
    detached: true,
  });
}

async function diskWatch(
  { filled }: ConfinedLaunch,
  { limits: { resources } }: AttemptSpec,
): Promise<Result<DiskWatch | undefined, string>> {
  if (resources?.diskBytes === undefined) return ok(undefined);
  if (filled === undefined) return err("Not started: nothing here can hold its limit of the disk.");
  const watch = await openDiskWatch(filled, resources.diskBytes);
  return watch.ok ? watch : err(`Not started: ${watch.error}`);
}

type Enclosed = { readonly launch: ConfinedLaunch; readonly cgroup?: string; readonly enclosure?: Enclosure };

/** A sandbox holds its processes together by itself. */
function enclose(launch: ConfinedLaunch, spec: AttemptSpec): Result<Enclosed, string> {
  if (spec.confine !== undefined) return ok({ launch });
  const here = enclosureHere(spec.enclosure ?? "markers");
  if (!here.ok) return err(`Not started: ${here.error}. Change attempts.enclosure, or set it to auto.`);
  const enclosure = here.value;
  if (enclosure === "namespace") return ok({ launch: inNamespace(launch), enclosure });
  if (enclosure === "markers") return ok({ launch, enclosure });
  try {
    if (enclosure === "scope") return ok({ ...inScope(launch, spec.marker), enclosure });
    return ok({ launch, cgroup: createCgroup(spec.marker), enclosure });
  } catch (error) {
    return err(`Not started: its cgroup could not be made (${messageOf(error)}).`);
  }
}

/** The launch, wrapped by the sandbox if there is one. Without the required sandbox the program does not start. */
const confined = async (executable: string, spec: AttemptSpec): Promise<Result<ConfinedLaunch, string>> => {
  const [program, ...args] = spec.argv;
  const launch: ConfinedLaunch = {
    argv: [executable, ...args],
    cwd: spec.cwd,
    env: { ...spec.env, [MARKER_VARIABLE]: spec.marker },
  };
  if (spec.confine === undefined) return ok(launch);
  const inside = await spec.confine({ ...launch, program });
  if (!inside.ok) {
    const { message, hint } = inside.error;
    return err(`Not started, because it could not be confined: ${message}${hint === undefined ? "" : ` (${hint})`}`);
  }
  // A bare name would be looked up on a PATH that may lead into the workspace.
  if (!isAbsolute(inside.value.argv[0])) return err(`Not started: ${inside.value.argv[0]} is not an absolute path.`);
  // The marker finds every process that starts outside the sandbox.
  return ok({ ...inside.value, env: { ...inside.value.env, [MARKER_VARIABLE]: spec.marker } });
};

const spawnProblem = (executable: string, error: unknown): string => {
  const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
  const hint = missing ? " The interpreter named in its first line may be missing." : "";
  return `Could not start ${executable}: ${messageOf(error)}.${hint}`;
};

const tellStarted = async (hooks: AttemptHooks, identity: ProcessIdentity): Promise<void> => {
  await hooks.onStarted?.(identity);
};

const drain = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
  const open = [child.stdout, child.stderr].filter((stream) => !stream.closed);
  const closed = open.map((stream) => new Promise<void>((resolve) => void stream.once("close", () => resolve())));
  await within(Promise.all(closed), DRAIN_MS);
  // Some more turns: the pipes are read even if the timer came late on a busy machine, and after a pause in the middle of a flood.
  for (let turn = 0; turn < LAST_TURNS; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
};

const within = async (promise: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
};
