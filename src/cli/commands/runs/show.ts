// `runs list` and `runs show`: what there is, and one run with everything that is known of it.

import { attemptFiles, readAgentFile } from "../../../attempt/attempt-files.ts";
import { amountText } from "../../../core/budget/budget.ts";
import { tokensOf } from "../../../core/budget/usage.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { type AttemptRecord, type RunSummary, type Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint, printJson, printTable, shortDuration } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { standingOf, statusColor, withReader } from "../../report.ts";
import { waitingLines } from "../../terminal/progress.ts";
import { treeLines } from "../../terminal/run-tree.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { type AttemptRow, attemptRow } from "../../../core/view/attempt-row.ts";
import { stageRows } from "../../../core/view/stage-list.ts";
import { firstToResume, whyOf } from "../../terminal/run-view.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { optional } from "../../../core/optional.ts";

export type ListOptions = {
  readonly status?: string;
  readonly flow?: string;
  readonly limit: string;
  readonly before?: string;
};

const SHOWN_FILES = ["prompt", "output", "verdict", "diff", "handoff"] as const;
export type ShownFile = (typeof SHOWN_FILES)[number];
const FILE_BYTES = 64 * 1024 * 1024;

export async function runsList(io: Io, options: ListOptions): Promise<number> {
  const limit = wholeNumber(options.limit, "--limit", 1000);
  const before =
    options.before === undefined ? {} : { before: wholeNumber(options.before.replace(/^#/u, ""), "--before", 2 ** 40) };
  const filter = {
    ...optional({ word: options.status, flow: options.flow }),
    ...before,
  };
  const runs = await withReader(io, async (store): Promise<readonly ListedRun[]> => {
    const found = (await store?.listRuns({ ...filter, limit })) ?? [];
    return Promise.all(found.map(async (run) => ({ ...run, resumes: await resumesWhen(store, run) })));
  });
  if (io.json) printJson(io, { runs });
  else if (io.quiet) for (const { id } of runs) io.out(id);
  else if (runs.length === 0) io.err('No runs. Start one:  passrail run FLOW "text"    See flows:  passrail flow list');
  else
    printTable(
      io,
      runs.map((run) => listRow(io, run)),
    );
  return EXIT.ok;
}

/** `resumes` says when a run goes on by itself that waits for its time; else it is empty. */
type ListedRun = RunSummary & { readonly resumes: string };

async function resumesWhen(store: Store | undefined, { id, status }: RunSummary): Promise<string> {
  const stored = status === "running" ? await store?.loadRun(id) : undefined;
  return stored === undefined ? "" : firstToResume(stored.run);
}

function listRow(io: Io, run: ListedRun) {
  const word = run.word === run.status ? run.status : `${run.status} (${run.word})`;
  const status = run.resumes === "" ? word : `${word}, ${run.resumes}`;
  const cells = io.plain
    ? [
        run.id,
        String(run.number),
        run.status,
        run.word,
        run.flow,
        run.stage ?? "",
        run.subject.id,
        run.createdAt,
        run.updatedAt,
        run.subject.title,
        ...(run.resumes === "" ? [] : [run.resumes]),
      ]
    : [`#${run.number}`, run.id, status, run.flow, run.stage ?? "", age(run.updatedAt), run.subject.title];
  return cells.map((value, index) =>
    index === 2 && !io.plain ? { name: "", value, color: statusColor(run.status) } : { name: "", value },
  );
}

export async function runsShow(
  io: Io,
  reference: string,
  options: { readonly attempt?: string; readonly file?: ShownFile },
): Promise<number> {
  return withReader(io, async (store) => {
    const { run, summary } = await requireRun(store, reference);
    if (store === undefined) return EXIT.error;
    if (options.attempt !== undefined || options.file !== undefined)
      return showAttempt(io, store, run, options.attempt, options.file);
    const attempts = await store.attempts(run.id);
    const resolved = await flowOf(store, run);
    const { flow } = resolved;
    const counters = counterRows(flow, run);
    const why = whyOf(run, resolved);
    if (io.json) {
      const handoffs = await store.handoffs(run.id);
      printJson(io, {
        ...standingOf(run, summary.number, resolved),
        subject: run.subject,
        createdAt: run.createdAt,
        updatedAt: summary.updatedAt,
        counters,
        spent: run.spent ?? null,
        stages: stageRows(flow, run, attempts, Date.now()),
        handoffs,
      });
    } else if (io.quiet) io.out(run.id);
    else if (io.plain) showPlain(io, run, summary, attempts, counters, why);
    else
      showRich(
        io,
        run,
        summary,
        attempts,
        counters,
        why,
        treeLines(io, flow, run, attempts).map(({ text, paint: color }) => color(oneLine(text, io.columns))),
      );
    return EXIT.ok;
  });
}

/** One record per line; the first word says what it is. */
function showPlain(
  io: Io,
  run: Run,
  summary: RunSummary,
  attempts: readonly AttemptRecord[],
  counters: ReturnType<typeof counterRows>,
  why: string,
): void {
  const rows = [
    ["run", run.id, String(summary.number), run.flow, run.status, run.word, run.subject.id, run.subject.title, why],
    ...attempts
      .map((record) => attemptRow(record, Date.now()))
      .map((row) => [
        "attempt",
        `${row.stage}#${row.attempt}`,
        row.status,
        row.word ?? "",
        row.canonical ?? "",
        duration(row),
        exitCode(row),
        commits(row),
        row.cause ?? row.summary ?? "",
      ]),
    ...(run.spent === undefined ? [] : [["spent", ...spentCells(run.spent)]]),
    ...counters.map(({ key, loops, max }) => ["counter", key, String(loops), max === null ? "" : String(max)]),
    ...openItems(run).map((item) => [
      "item",
      `${run.id}.${item.number}`,
      item.kind,
      item.stage,
      item.who,
      item.openedAt,
    ]),
  ];
  for (const row of rows) printTable(io, [row.map((value) => ({ name: "", value }))]);
}

function showRich(
  io: Io,
  run: Run,
  summary: RunSummary,
  attempts: readonly AttemptRecord[],
  counters: ReturnType<typeof counterRows>,
  why: string,
  tree: readonly string[],
): void {
  const status = run.paused && run.status === "running" ? "paused" : run.status;
  io.out(
    `${paint(io, "bold", `#${summary.number} ${oneLine(run.subject.title, 100)}`)}  ${paint(io, statusColor(run.status), status)} (${oneLine(run.word, 40)})`,
  );
  io.out(
    paint(
      io,
      "dim",
      oneLine(`${run.id} · flow ${run.flow} · ${run.subject.id} · started ${age(run.createdAt)}`, io.columns),
    ),
  );
  if (why !== "") io.out(oneLine(why, 400));
  io.out("");
  for (const line of tree) io.out(line);
  if (attempts.length > 0) {
    io.out("");
    io.out(paint(io, "dim", "Attempts"));
    printTable(
      io,
      attempts
        .map((record) => attemptRow(record, Date.now()))
        .map((row) =>
          [
            `  ${row.stage}#${row.attempt}`,
            said(row),
            duration(row),
            exitCode(row),
            commits(row),
            playedBy(row),
            row.cause ?? row.summary ?? "",
          ].map((value) => ({ name: "", value })),
        ),
    );
  }
  if (counters.length > 0)
    io.out(
      `\n${paint(io, "dim", "Counters")}  ${counters.map(({ key, loops, max }) => `${key} ${loops} of ${max ?? "no limit"}`).join(" · ")}`,
    );
  if (run.spent !== undefined)
    io.out(`${counters.length > 0 ? "" : "\n"}${paint(io, "dim", "Spent")}  ${spentText(run.spent)}`);
  for (const item of openItems(run)) {
    io.out("");
    for (const line of waitingLines(item, summary.number, run)) io.out(line);
  }
  const last = attempts.at(-1);
  if (last !== undefined)
    io.out(
      `\n${paint(io, "dim", `passrail runs show ${summary.number} --attempt ${last.stage}#${last.attempt} --prompt|--output|--verdict|--diff|--handoff`)}`,
    );
}

/** `claude $0.31`, `codex 12,300 tokens`; nothing for a program that tells nothing. */
function playedBy({ runner, usage }: AttemptRow): string {
  if (runner === null || runner === "command") return "";
  const tokens = usage === null ? null : tokensOf(usage);
  const cost = usage?.usd ?? null;
  return [runner, cost !== null ? amountText("usd", cost) : tokens === null ? "" : amountText("tokens", tokens)]
    .filter((part) => part !== "")
    .join(" ");
}

/** `$1.25 (2 attempts did not say) · 12,300 tokens`; more in `passrail cost`. */
function spentText({ usd, unknownUsd, attempts, tokens, unknownTokens }: NonNullable<Run["spent"]>): string {
  const silent = (count: number): string => `${count} attempt${count === 1 ? "" : "s"} did not say`;
  const money = unknownUsd === attempts ? "cost unknown" : amountText("usd", usd);
  const words = unknownTokens === attempts ? "tokens unknown" : amountText("tokens", tokens);
  return [
    `${money}${unknownUsd === 0 || unknownUsd === attempts ? "" : ` (${silent(unknownUsd)})`}`,
    `${words}${unknownTokens === 0 || unknownTokens === attempts ? "" : ` (${silent(unknownTokens)})`}`,
  ].join(" · ");
}

function spentCells({
  usd,
  unknownUsd,
  attempts,
  tokens,
  unknownTokens,
}: NonNullable<Run["spent"]>): readonly string[] {
  return [
    unknownUsd === attempts ? "" : String(usd),
    String(unknownUsd),
    unknownTokens === attempts ? "" : String(tokens),
    String(unknownTokens),
  ];
}

async function showAttempt(
  io: Io,
  store: Store,
  run: Run,
  wanted: string | undefined,
  file: ShownFile | undefined,
): Promise<number> {
  const attempts = await store.attempts(run.id);
  const found = pickAttempt(attempts, wanted);
  if (file === undefined) {
    const row = attemptRow(found, Date.now());
    if (io.json)
      printJson(io, {
        ...row,
        outcome: found.outcome,
        facts: found.facts,
        readyAt: found.readyAt,
        startedAt: found.startedAt,
        endedAt: found.endedAt,
      });
    else
      for (const [key, value] of Object.entries({ ...row, ...found.facts, outcome: found.outcome }))
        printTable(io, [
          [key, typeof value === "string" ? value : JSON.stringify(value)].map((cell) => ({ name: "", value: cell })),
        ]);
    return EXIT.ok;
  }
  const files = attemptFiles(io.home, run.id, found.stage, found.attempt);
  const path = files[file];
  // A verdict is a file, or what was submitted by tool.
  const submitted = file === "verdict" ? await readAgentFile(files.submission, FILE_BYTES) : undefined;
  const text = submitted ?? (await readAgentFile(path, FILE_BYTES));
  if (text === undefined) throw new CliError("file_not_there", `${found.stage}#${found.attempt} has no ${file}.`, path);
  if (io.json) printJson(io, { stage: found.stage, attempt: found.attempt, file, path, text });
  else for (const line of text.replace(/\n$/u, "").split("\n")) io.out(plainText(line, io.color));
  return EXIT.ok;
}

/** `build#2`, `build` for its last attempt, nothing for the last of all. */
export function pickAttempt(attempts: readonly AttemptRecord[], wanted: string | undefined): AttemptRecord {
  const [stage, number] = wanted === undefined ? [] : wanted.split("#");
  const found = attempts.findLast(
    (record) =>
      (stage === undefined || record.stage === stage) && (number === undefined || String(record.attempt) === number),
  );
  if (found !== undefined) return found;
  const known = attempts.map((record) => `${record.stage}#${record.attempt}`).join(", ");
  throw new CliError(
    "attempt_not_found",
    wanted === undefined ? "There is no attempt yet." : `There is no attempt ${wanted}.`,
    known === "" ? "" : `attempts: ${known}`,
  );
}

function said({ status, word, canonical }: AttemptRow): string {
  if (status !== "done") return status;
  return word === null || word === canonical ? (canonical ?? "done") : `${word} (${canonical ?? "?"})`;
}

function duration({ durationMs }: AttemptRow): string {
  return durationMs === null ? "" : shortDuration(durationMs);
}

function exitCode({ exitCode: code }: AttemptRow): string {
  return code === null ? "" : `exit ${code}`;
}

function commits({ commits: range }: AttemptRow): string {
  return range === null ? "" : `${range.from.slice(0, 8)}..${range.to.slice(0, 8)}`;
}

function wholeNumber(text: string, flag: string, max: number): number {
  const value = Number(text);
  if (!/^[0-9]+$/u.test(text) || value < 1 || value > max)
    throw usageError("number_invalid", `${flag} ${text}: expected a whole number from 1 to ${max}.`);
  return value;
}
