// One check on one tree: the result of an earlier one if the same program has judged the same tree in the same environment, else the
// program itself, with the limits and the containment of any program of an attempt. Only an exit code is worth keeping.

import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { CachedCheck, CheckCounts, CheckedBy, CheckResult, NamedCheck } from "../../core/flow/check-result.ts";
import { canonicalJson } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { excerptOf } from "../../core/prompt/excerpt.ts";
import { countsAreRed, readSummary } from "../../core/summary/read-summary.ts";
import { lookConfined, readConfined } from "../../file/confined.ts";
import type { AttemptEnd, AttemptSpec, ProcessIdentity } from "../../runner/runner.ts";
import type { Runners } from "../../runner/runners.ts";
import type { CheckCache } from "../check-cache.ts";

export type CheckPorts = {
  readonly runners: Pick<Runners, "checkRunner" | "enclosure" | "redact" | "redactor">;
  /** Null: every check runs. Results are kept even then. */
  readonly findCached: CheckCache["find"] | null;
  readonly saveCached: CheckCache["save"];
  readonly now: () => string;
  readonly signal: AbortSignal;
  readonly onStarted?: (process: ProcessIdentity) => Promise<void>;
};

/** Where and on what a check runs. */
export type CheckPlace = {
  readonly dir: string;
  readonly commit: string | null;
  readonly tree: string | null;
  /** Whether all files that git would commit are the tree's: only then does a result count for the tree elsewhere. */
  readonly isExact: boolean;
  /** The folder below the top of the tree. */
  readonly prefix: string;
  /** The kind of place: a result in a sandbox says nothing about the machine outside, nor the other way round. */
  readonly kind: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly logFile: (name: string) => string;
  readonly by: Omit<CheckedBy, "at">;
  readonly confinement: Pick<AttemptSpec, "confine" | "ownPrograms">;
};

export type RanCheck = {
  readonly result: CheckResult;
  /** The end of its output. */
  readonly excerpt: string;
};

const OUTPUT_BYTES = 10 * 1024 * 1024;
const GRACE_MS = 5000;
const REPORT_BYTES = 8 * 1024 * 1024;
/** Shells use higher codes for a program that they could not run, or that a signal ended. */
const HIGHEST_OWN_EXIT = 125;

export async function runCheck(check: NamedCheck, place: CheckPlace, ports: CheckPorts): Promise<RanCheck> {
  const key = keyOf(check, place, ports);
  const known = key === null ? undefined : await ports.findCached?.(key, ports.now());
  if (known !== undefined) return fromCache(check, place, known, ports);
  const before = stampOf(check, place);
  const startedAt = ports.now();
  const end = await launch(check, place, ports);
  const endedAt = ports.now();
  const counts = countsOf(check, place, end, before);
  const command = shownCommand(check, ports);
  const log = isStarted(end) ? basename(place.logFile(check.name)) : "";
  const { commit, tree } = place;
  const base = { name: check.name, command, commit, tree, startedAt, endedAt, log, ...optional({ counts }) };
  // stderr is short, and its end is the end of what people would see.
  const excerpt = excerptOf([end.stdoutTail, end.stderrTail].map(excerptOf).join("\n"));
  const result: CheckResult = { ...base, ...judgedEnd(end, counts, check) };
  if (key !== null && tree !== null && isConclusive(end)) {
    const { exitCode } = end;
    const by = { ...place.by, at: endedAt };
    const kept = { key, tree, command, startedAt, endedAt, log, excerpt, by, exitCode: exitCode ?? 0 };
    await ports.saveCached({ ...kept, ...optional({ counts }) });
  }
  return { result, excerpt };
}

/** Null if no result for these files can be used again. */
function keyOf({ run, env }: NamedCheck, place: CheckPlace, { runners }: CheckPorts): string | null {
  if (!place.isExact || place.tree === null) return null;
  const { environment } = runners.checkRunner(program(run), env);
  const said = Object.entries(environment).filter(([name]) => !PERSONAL.has(name));
  const { version, platform, arch } = process;
  const { tree, prefix, kind } = place;
  const whole = { run, tree, prefix, kind, environment: Object.fromEntries(said), version, platform, arch };
  return createHash("sha256").update(canonicalJson(whole)).digest("hex");
}

/** Variables that say who works where, not how programs behave. */
const PERSONAL: ReadonlySet<string> = new Set(["HOME", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"]);

function fromCache(check: NamedCheck, place: CheckPlace, known: CachedCheck, ports: CheckPorts): RanCheck {
  const { exitCode, counts, startedAt, endedAt, log, excerpt, by } = known;
  const { commit, tree } = place;
  const base = {
    name: check.name,
    command: shownCommand(check, ports),
    exitCode,
    commit,
    tree,
    startedAt,
    endedAt,
    log,
  };
  const why = whyRed(exitCode, counts);
  const state = why === undefined ? "passed" : "failed";
  return { result: { ...base, state, ...optional({ counts, why }), cached: by }, excerpt };
}

function launch(check: NamedCheck, place: CheckPlace, ports: CheckPorts): Promise<AttemptEnd> {
  const { runner, argv, environment } = ports.runners.checkRunner(program(check.run), check.env);
  return runner.run(
    {
      marker: place.marker,
      argv,
      cwd: place.dir,
      prompt: "",
      env: { ...environment, ...place.env },
      limits: { totalMs: check.timeoutMs, outputBytes: OUTPUT_BYTES, graceMs: GRACE_MS },
      outputPath: place.logFile(check.name),
      redactor: ports.runners.redactor,
      enclosure: ports.runners.enclosure,
      ...place.confinement,
    },
    { signal: ports.signal, ...optional({ onStarted: ports.onStarted }) },
  );
}

function judgedEnd(
  end: AttemptEnd,
  counts: CheckCounts | undefined,
  { timeoutMs }: NamedCheck,
): Pick<CheckResult, "state" | "exitCode" | "why"> {
  const { reason, exitCode } = end;
  if (reason === "exited") {
    const why = whyRed(exitCode ?? -1, counts);
    return { state: why === undefined ? "passed" : "failed", exitCode, ...optional({ why }) };
  }
  if (reason === "timeout")
    return { state: "timed_out", exitCode, why: `it took longer than ${Math.round(timeoutMs / 1000)} s and was ended` };
  if (!isStarted(end)) return { state: "not_started", exitCode, why: end.detail };
  return { state: "failed", exitCode, why: end.detail };
}

/** A program that reports failures and exits with 0 has not passed. */
function whyRed(exitCode: number, counts: CheckCounts | undefined): string | undefined {
  if (exitCode !== 0) return `it ended with exit code ${exitCode}`;
  return counts !== undefined && countsAreRed(counts)
    ? "its own summary counts failures, although it ended with 0"
    : undefined;
}

function isStarted({ reason }: AttemptEnd): boolean {
  return reason !== "agent_not_found" && reason !== "spawn_failed" && reason !== "canceled";
}

function isConclusive({ reason, exitCode }: AttemptEnd): boolean {
  return reason === "exited" && exitCode !== null && exitCode <= HIGHEST_OWN_EXIT;
}

function countsOf(check: NamedCheck, place: CheckPlace, end: AttemptEnd, before: string): CheckCounts | undefined {
  const { parse, report } = check;
  if (parse === undefined || !isStarted(end)) return undefined;
  if (report === undefined) return readSummary(parse, `${end.stdoutTail}\n${end.stderrTail}`);
  // A report that was there before says nothing about this run.
  if (stampOf(check, place) === before) return undefined;
  const text = readConfined(place.dir, join(place.dir, report), REPORT_BYTES);
  return text.ok && text.value !== undefined ? readSummary(parse, text.value) : undefined;
}

function stampOf({ report }: NamedCheck, { dir }: CheckPlace): string {
  const found = report === undefined ? undefined : lookConfined(dir, join(dir, report));
  return found?.ok === true && found.value !== undefined
    ? `${found.value.ino}:${found.value.size}:${found.value.mtimeNs}:${found.value.ctimeNs}`
    : "absent";
}

function shownCommand({ run }: NamedCheck, { runners }: CheckPorts): string {
  return runners.redact(run.join(" "));
}

function program([first = "", ...rest]: readonly string[]): readonly [string, ...string[]] {
  return [first, ...rest];
}
