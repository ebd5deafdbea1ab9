// `runs show`: one run with its stages, attempts, counters and open items.

import { amountText } from "../../../core/budget/budget.ts";
import { tokensOf } from "../../../core/budget/usage.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import type { AttemptRecord, RunSummary } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, type Column, paint, printJson, printTable, shortDuration } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { endLines, endOf, standingOf } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { waitingLines } from "../../terminal/progress.ts";
import { treeLines } from "../../terminal/run-tree.ts";
import { statusColor } from "../../terminal/status-color.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { EVIDENCE_WORDS, type EvidenceLine, evidenceTable } from "../../../core/view/evidence-table.ts";
import { statusText } from "../../../core/view/run-state.ts";
import { type AttemptRow, attemptRow } from "../../../core/view/attempt-row.ts";
import { findingLines, findingRows } from "../../../core/view/findings.ts";
import { type MessageRow, messageRows } from "../../../core/view/messages.ts";
import { spentText } from "../../../core/view/spent-text.ts";
import type { RunEnd } from "../../../core/view/run-end.ts";
import { stageRows } from "../../../core/view/stage-list.ts";
import { whyOf } from "../../terminal/run-view.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { SHOWN_FILES, type ShownFile } from "./shown-file.ts";

export type ShowOptions = { readonly attempt?: string; readonly tape: boolean } & {
  readonly [K in ShownFile]: boolean;
};

type ShownRun = {
  readonly run: Run;
  readonly summary: RunSummary;
  readonly attempts: readonly AttemptRecord[];
  readonly counters: ReturnType<typeof counterRows>;
  /** Its present state, in a word. */
  readonly status: string;
  readonly why: string;
  readonly end: RunEnd | null;
  readonly messages: readonly MessageRow[];
};

export async function runsShow(io: Io, reference: string, options: ShowOptions): Promise<number> {
  const file = fileOf(options);
  return withReader(io, async (store) => {
    const { run, summary } = await requireRun(store, reference);
    if (store === undefined) return EXIT.error;
    const attempts = await store.attempts(run.id);
    if (file !== undefined || options.tape || options.attempt !== undefined) {
      // Loaded only here, because a run is looked at far more often than one of its files.
      const { pickAttempt, showAttempt, showAttemptFile } = await import("./attempt.ts");
      const attempt = pickAttempt(attempts, options.attempt);
      if (options.tape) await (await import("./tape.ts")).showTape(io, run.id, attempt);
      else if (file === undefined) showAttempt(io, attempt);
      else await showAttemptFile(io, run.id, attempt, file);
      return EXIT.ok;
    }
    const resolved = await flowOf(store, run);
    const { flow } = resolved;
    const end = await endOf(store, { run, number: summary.number, resolved });
    const messages = messageRows(resolved, run);
    const why = whyOf(run, resolved);
    const status = statusText(resolved, run, Date.now());
    const shown = { run, summary, attempts, counters: counterRows(flow, run), status, why, end, messages };
    if (io.json)
      printJson(io, {
        ...standingOf(run, summary.number, resolved),
        subject: run.subject,
        imported: run.imported ?? null,
        createdAt: run.createdAt,
        updatedAt: summary.updatedAt,
        counters: shown.counters,
        messages,
        findings: findingRows(run),
        spent: run.spent ?? null,
        stages: stageRows(flow, run, attempts, Date.now()),
        evidence: evidenceTable(attempts),
        handoffs: await store.handoffs(run.id),
        end,
      });
    else if (io.quiet) io.out(run.id);
    else if (io.plain) showPlain(io, shown);
    else
      showRich(
        io,
        shown,
        treeLines(io, flow, run, attempts).map(({ text, paint: color }) => color(oneLine(text, io.columns))),
      );
    return EXIT.ok;
  });
}

function fileOf(options: ShowOptions): ShownFile | undefined {
  const [file, ...others] = SHOWN_FILES.filter((name) => options[name]);
  if (others.length === 0) return file;
  throw usageError("flag_conflict", `Only one of ${SHOWN_FILES.map((name) => `--${name}`).join(", ")} at a time.`);
}

/** One record per line; the first word says what it is. */
function showPlain(io: Io, { run, summary, attempts, counters, why, end, messages }: ShownRun): void {
  const rows = [
    ["run", run.id, String(summary.number), run.flow, run.status, run.word, run.subject.id, run.subject.title, why],
    ...(run.imported === undefined
      ? []
      : [["imported", run.imported.exportedAt, run.imported.exportedBy, run.imported.was, run.imported.subject]]),
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
        row.containment?.label ?? "",
        row.rung ?? "",
        row.worker ?? "",
      ]),
    ...evidenceTable(attempts).map(({ stage, attempt, what, state, isGood, evidence }) => [
      "evidence",
      `${stage}#${attempt}`,
      what,
      EVIDENCE_WORDS[state],
      isGood === null ? "" : String(isGood),
      evidence,
    ]),
    ...(run.spent === undefined ? [] : [["spent", ...spentCells(run.spent)]]),
    ...counters.map(({ key, loops, max }) => ["counter", key, String(loops), max === null ? "" : String(max)]),
    ...messages.map((row) => ["message", String(row.number), row.stage, row.from, row.became, row.text]),
    ...findingRows(run).map((row) => [
      "finding",
      row.id,
      row.state,
      row.severity ?? "",
      row.where ?? "",
      `${row.stage}#${row.iteration}`,
      row.history.map(({ by, iteration, said }) => `${by}#${iteration} ${said}`).join(", "),
      row.text,
    ]),
    ...openItems(run).map((item) => [
      "item",
      `${run.id}.${item.number}`,
      item.kind,
      item.stage,
      item.who,
      item.openedAt,
    ]),
    ...(end === null ? [] : [["end", end.state, end.branch ?? "", String(end.commits), end.tip ?? "", end.text]]),
    ...(end?.commands ?? []).map(({ act, command }) => ["next", act, command]),
  ];
  for (const row of rows) printTable(io, [row.map((value) => ({ name: "", value }))]);
}

function showEvidence(io: Io, lines: readonly EvidenceLine[]): void {
  if (lines.length === 0) return;
  io.out("");
  io.out(paint(io, "dim", "Evidence"));
  const cells = lines.map(({ stage, attempt, what, state, isGood, evidence }) => [
    { name: "Stage", value: `${stage}#${attempt}` },
    { name: "What", value: oneLine(what, 60) },
    { name: "", value: isGood === null ? "·" : isGood ? "✓" : "✗" },
    { name: "How known", value: EVIDENCE_WORDS[state] },
    { name: "Evidence", value: oneLine(evidence, 200) },
  ]);
  printTable(io, cells);
}

function showRich(io: Io, shown: ShownRun, tree: readonly string[]): void {
  const { run, summary, attempts, counters, status, why, end, messages } = shown;
  io.out(
    `${paint(io, "bold", `#${summary.number} ${oneLine(run.subject.title, 100)}`)}  ${paint(io, statusColor(run.status), status)} (${oneLine(run.word, 40)})`,
  );
  const about = `${run.id} · flow ${run.flow} · ${run.subject.id} · started ${age(run.createdAt)}`;
  io.out(paint(io, "dim", oneLine(about, io.columns)));
  if (run.imported !== undefined) {
    const { exportedAt, exportedBy, subject, was } = run.imported;
    const text = `imported: exported ${age(exportedAt)} by Passrail ${exportedBy}, when it was ${was}; ${subject} there`;
    io.out(paint(io, "yellow", oneLine(text, 400)));
  }
  if (why !== "") io.out(oneLine(why, 400));
  io.out("");
  for (const line of tree) io.out(line);
  if (attempts.length > 0) {
    io.out("");
    io.out(paint(io, "dim", "Attempts"));
    printTable(io, attempts.map(attemptCells));
  }
  showEvidence(io, evidenceTable(attempts));
  if (counters.length > 0)
    io.out(
      `\n${paint(io, "dim", "Counters")}  ${counters.map(({ key, loops, max }) => `${key} ${loops} of ${max ?? "no limit"}`).join(" · ")}`,
    );
  if (run.spent !== undefined)
    io.out(`${counters.length > 0 ? "" : "\n"}${paint(io, "dim", "Spent")}  ${spentText(run.spent)}`);
  if (messages.length > 0) {
    io.out("");
    io.out(paint(io, "dim", "Messages"));
    for (const { from, stage, text, became } of messages)
      io.out(`  ${oneLine(`${from} to ${stage}: ${oneLine(text, 120)} (${became})`, 400)}`);
  }
  const findings = findingRows(run);
  if (findings.length > 0) {
    io.out("");
    io.out(paint(io, "dim", "Findings"));
    for (const row of findings) for (const line of findingLines(row)) io.out(`  ${oneLine(line, 400)}`);
  }
  for (const item of openItems(run)) {
    io.out("");
    for (const line of waitingLines(item, summary.number, run)) io.out(line);
  }
  if (end !== null) {
    io.out("");
    for (const line of endLines(io, end)) io.out(line);
  }
  const last = attempts.at(-1);
  if (last !== undefined)
    io.out(
      `\n${paint(io, "dim", `passrail runs show ${summary.number} --attempt ${last.stage}#${last.attempt} --prompt|--output|--verdict|--diff|--handoff`)}`,
    );
}

function attemptCells(record: AttemptRecord): readonly Column[] {
  const row = attemptRow(record, Date.now());
  return [
    `  ${row.stage}#${row.attempt}`,
    said(row),
    duration(row),
    exitCode(row),
    commits(row),
    playedBy(row),
    row.containment?.label ?? "",
    row.cause ?? row.summary ?? "",
  ].map((value) => ({ name: "", value }));
}

/** `claude $0.31`, `codex 12,300 tokens`; nothing for a program that does not report its usage. */
function playedBy({ runner, rung, usage, worker }: AttemptRow): string {
  const where = worker === null ? "" : `on ${worker}`;
  if (runner === null || runner === "command") return where;
  const tokens = usage === null ? null : tokensOf(usage);
  const cost = usage?.usd ?? null;
  const spent = cost !== null ? amountText("usd", cost) : tokens === null ? "" : amountText("tokens", tokens);
  return [rung ?? runner, spent, where].filter((part) => part !== "").join(" ");
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
