// The logs of a ticket's stages as files for people, `logs/AGI-7/implement.log`: one part per attempt with a head and a foot. A copy for reading:
// the attempts' own files and the store hold the facts. After a crash the next process adds the missing parts.

import { attemptFacts } from "../core/attempt-facts.ts";
import { runFacts } from "../core/run/facts.ts";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import type { RunEvent } from "../core/run/event.ts";
import { isName } from "../core/flow/name.ts";
import type { Run } from "../core/run/run.ts";
import { stripAnsi } from "../core/secrets/strip-ansi.ts";
import { attemptRow } from "../core/view/attempt-row.ts";
import type { AttemptRecord, Store } from "../store/store.ts";
import { attemptFiles } from "../attempt/attempt-files.ts";
import { makeFolders, readConfined, writeConfined } from "../file/confined.ts";

export type StageLogs = {
  onChange(run: Run, events: readonly RunEvent[]): void;
  /** Adds the parts that a process that died did not write. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly home: string;
  readonly store: Pick<Store, "activeRuns" | "attempts" | "listRuns" | "loadRun">;
  /** Applied after terminal codes are removed: a key may only then be in one piece. */
  readonly redact: (text: string) => string;
  readonly onError: (runId: string, error: unknown) => void;
};

const ENDS: ReadonlySet<RunEvent["type"]> = new Set([
  "stage.finished",
  "stage.interrupted",
  "stage.canceled",
  "stage.postponed",
]);
const TICKET_ID = /^[A-Z]{2,10}-[1-9][0-9]{0,8}$/u;
const OUTPUT_BYTES = 512 * 1024;
const LOG_BYTES = 256 * 1024 * 1024;
/** Runs that ended lately; the process that saw an older one end has written it. */
const LOOKED_BACK = 20;

export function stageLogFile(home: string, ticketId: string, stage: string): string {
  if (!TICKET_ID.test(ticketId) || !isName(stage)) throw new Error(`not a ticket's stage: ${ticketId}/${stage}`);
  return `${home}/logs/${ticketId}/${stage}.log`;
}

/** Between two agents nobody waits for a copy. */
const SOON_MS = 150;

export function createStageLogs({ home, store, redact, onError }: Options): StageLogs {
  let turn = Promise.resolve();
  let catching = Promise.resolve();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  /** The tickets of runs with a stage that has ended. */
  const waiting = new Map<string, string>();
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [runId, ticketId] of waiting)
      turn = turn
        .then(async () => addMissing(home, ticketId, await store.attempts(runId), redact))
        .catch((error: unknown) => onError(runId, error));
    waiting.clear();
  };
  return {
    onChange(run, events) {
      const ticketId = ticketOf(run);
      if (ticketId === undefined || !events.some(({ type }) => ENDS.has(type))) return;
      waiting.set(run.id, ticketId);
      timer ??= setTimeout(write, SOON_MS).unref();
    },
    catchUp: () => (catching = lookBack()),
    async close() {
      isClosed = true;
      await catching.catch(() => undefined);
      write();
      await turn;
    },
  };

  async function lookBack(): Promise<void> {
    const lately = await store.listRuns({ limit: LOOKED_BACK });
    const named = lately.filter(({ subject }) => TICKET_ID.test(subject.id)).map(({ id }) => id);
    for (const runId of new Set([...(await store.activeRuns()), ...named])) {
      if (isClosed) return;
      const stored = await store.loadRun(runId);
      const ticketId = stored === undefined ? undefined : ticketOf(stored.run);
      if (ticketId !== undefined) waiting.set(runId, ticketId);
    }
    write();
    await turn;
  }
}

/** Only runs of tickets' files: their facts say so. */
function ticketOf(run: Run): string | undefined {
  const { id } = run.subject;
  return runFacts(run).ticket.id === id && TICKET_ID.test(id) ? id : undefined;
}

function addMissing(
  home: string,
  ticketId: string,
  attempts: readonly AttemptRecord[],
  redact: (text: string) => string,
): void {
  const ended = attempts.filter(
    ({ status, startedAt, stage }) => status !== "ready" && status !== "running" && startedAt !== null && isName(stage),
  );
  for (const stage of new Set(ended.map((attempt) => attempt.stage))) {
    const file = stageLogFile(home, ticketId, stage);
    const before = readWhole(home, file);
    // Output is indented, so no agent can write a line that looks like a head.
    const known = new Set(before.split("\n").filter((line) => line.startsWith("=== ")));
    const parts = ended
      .filter((attempt) => attempt.stage === stage && !known.has(headOf(ticketId, attempt)))
      .sort((a, b) => a.attempt - b.attempt)
      .map((attempt) => redact(partOf(home, ticketId, attempt)));
    if (parts.length > 0) replace(home, file, before + parts.join(""));
  }
}

function headOf(ticketId: string, { runId, stage, attempt }: AttemptRecord): string {
  return `=== ${ticketId} ${stage}, attempt ${attempt} of run ${runId} ===`;
}

function partOf(home: string, ticketId: string, record: AttemptRecord): string {
  const { runId, stage, attempt, status } = record;
  const row = attemptRow(record, Date.now());
  const files = attemptFiles(home, runId, stage, attempt);
  const result = [status === "done" ? row.health : status, row.verdict, row.word];
  const output = [outputOf(files.output), outputOf(files.repairOutput)].filter((text) => text !== "").join("\n");
  return [
    headOf(ticketId, record),
    ...line("started", [row.startedAt]),
    ...line("runner", [row.runner, row.model], " "),
    ...line("prompt", [files.prompt]),
    "",
    ...(output === ""
      ? ["  (no output)"]
      : output
          .trimEnd()
          .split("\n")
          .map((each) => `  ${each}`)),
    "",
    ...line("ended", [row.endedAt]),
    ...line("result", result),
    ...line("exit", [row.exitCode === null ? null : String(row.exitCode)]),
    ...line("reason", [reasonOf(record)]),
    `=== end of attempt ${attempt} of run ${runId} ===`,
    "",
    "",
  ].join("\n");
}

/** `result   complete, pass, SHIP`; no line where nothing is known. Every value is one plain line. */
function line(name: string, values: readonly (string | null)[], between = ", "): readonly string[] {
  const known = values.flatMap((value) => (value === null || value === "" ? [] : [plainLine(value)]));
  return known.length === 0 ? [] : [`${name.padEnd(8)} ${known.join(between)}`];
}

/** The agent's own reason, else what the engine noted about the end. */
function reasonOf(record: AttemptRecord): string | null {
  const said = record.outcome?.["reason"];
  return typeof said === "string" && said !== "" ? said : attemptFacts(record).detail;
}

function plainLine(text: string): string {
  return stripAnsi(text).replaceAll(/\s+/gu, " ").slice(0, 500);
}

/** The last part of a large output; the file beside the prompt has all of it. */
function outputOf(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.nlink > 1) return "";
    const { size } = stat;
    const bytes = Buffer.alloc(Math.min(size, OUTPUT_BYTES));
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    const text = stripAnsi(bytes.toString("utf8", 0, length));
    return size > OUTPUT_BYTES ? `… (the first ${size - OUTPUT_BYTES} bytes are in ${path})\n${text}` : text;
  } finally {
    closeSync(fd);
  }
}

function readWhole(home: string, file: string): string {
  const read = readConfined(home, file, LOG_BYTES);
  if (read.ok) return read.value ?? "";
  // A log that grew too large starts anew beside the attempts' own files.
  if (read.error.code === "file_too_large") return "";
  throw new Error(read.error.message);
}

function replace(home: string, file: string, text: string): void {
  for (const done of [makeFolders(home, dirname(file), 0o700), writeConfined(home, file, text)])
    if (!done.ok) throw new Error(done.error.message);
}
