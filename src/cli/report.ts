// The end of a command that acted on a run: prints the run's current state and the next steps.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { type Phase, phasesOf, phaseTable } from "../core/view/phase-line.ts";
import { openItems, type Run } from "../core/run/run.ts";
import { tokensOf } from "../core/budget/usage.ts";
import type { Store } from "../store/store.ts";
import type { Io } from "./terminal/io.ts";
import { paint, printJson, printTable } from "./terminal/output.ts";
import { oneLine, plainText } from "./terminal/plain-text.ts";
import { isSettled, itemJson, whyOf } from "./terminal/run-view.ts";
import { commitOf } from "../app/commit-of.ts";
import { findRunEnd } from "../app/run-end.ts";
import type { RunEnd } from "../core/view/run-end.ts";
import { statusText } from "../core/view/run-state.ts";
import { spentText } from "../core/view/spent-text.ts";
import { attemptRow } from "../core/view/attempt-row.ts";
import { flowOf } from "../store/flow-of.ts";
import { withReader } from "./reader.ts";
import type { Rest } from "./session.ts";
import { optional } from "../core/optional.ts";
import { summaryLines } from "./work-summary.ts";

/** Where the work of an ended or stopped run is, and the next commands. */
export async function endOf(
  store: Store | undefined,
  {
    run,
    number,
    resolved,
  }: { readonly run: Run; readonly number: number; readonly resolved: ResolvedFlow | undefined },
): Promise<RunEnd | null> {
  if (store === undefined || resolved === undefined) return null;
  const attempts = await store.attempts(run.id);
  return findRunEnd(store, { resolved, run, number, attempts, commitOf: (each) => commitOf(store, each) });
}

export function endLines(io: Io, { text, commands }: RunEnd): readonly string[] {
  const wide = Math.max(0, ...commands.map(({ command }) => command.length));
  return [
    oneLine(text, 400),
    ...commands.map(({ act, command }) => `  ${plainText(command.padEnd(wide))}  ${paint(io, "dim", act)}`),
  ];
}

export type Standing = {
  readonly id: string;
  readonly number: number;
  readonly flow: string;
  readonly subject: { readonly id: string; readonly title: string };
  readonly status: Run["status"];
  readonly word: string;
  readonly paused: boolean;
  readonly why: string;
  readonly items: readonly Record<string, unknown>[];
};

export function standingOf(run: Run, number: number, resolved?: ResolvedFlow): Standing {
  return {
    id: run.id,
    number,
    flow: run.flow,
    subject: { id: run.subject.id, title: run.subject.title },
    status: run.status,
    word: run.word,
    paused: run.paused,
    why: whyOf(run, resolved),
    items: openItems(run).map((item) => itemJson(run.id, number, item, run)),
  };
}

/** The last word of a command: a document (or the last line of a stream), a tab-separated record, an id, or a sentence. */
export async function printRest(
  io: Io,
  { run, performedBy }: Rest,
  options: { readonly stream: boolean; readonly exit: number; readonly did?: string },
): Promise<void> {
  const { number, resolved, end, summary } = await withReader(io, async (store) => {
    const found = (await store?.findRuns(run.id))?.find(({ id }) => id === run.id)?.number ?? 0;
    const flow = store === undefined ? undefined : await flowOf(store, run);
    const ended = await endOf(store, { run, number: found, resolved: flow });
    const isShown = ended !== null && ended.commits > 0 && store !== undefined && !io.json && !io.quiet;
    const lines = isShown ? await summaryLines(io, store, run, await store.attempts(run.id)) : [];
    return { number: found, resolved: flow, end: ended, summary: lines };
  });
  const standing = { ...standingOf(run, number, resolved), end };
  const by = performedBy === null ? {} : { performedBy };
  if (io.json) {
    if (options.stream) io.out(JSON.stringify({ type: "run.settled", ...standing, ...by, exit: options.exit }));
    else printJson(io, { ...optional({ did: options.did }), ...standing, ...by });
    return;
  }
  if (io.quiet) return;
  if (options.did !== undefined && !io.plain) io.out(`${paint(io, "green", "✔")} ${oneLine(options.did, 300)}`);
  if (performedBy !== null && !isSettled(run)) io.err(`${performedBy} performs it; see: passrail runs watch ${number}`);
  if (io.plain)
    printTable(io, [
      [run.id, String(number), run.status, run.word, standing.why].map((value) => ({ name: "", value })),
    ]);
  else io.out(sentenceOf(run, number, standing.why, resolved));
  for (const line of summary) io.err(line);
  if (summary.length === 0 && end !== null && run.spent !== undefined) io.err(`Spent: ${spentText(run.spent)}`);
  if (end !== null) for (const line of endLines(io, end)) io.err(line);
  if (run.status === "stopped")
    io.err(
      `  passrail runs retry ${number}   runs the stage again\n  passrail runs show ${number}    shows what happened`,
    );
}

function sentenceOf(run: Run, number: number, why: string, resolved: ResolvedFlow | undefined): string {
  const status = resolved === undefined ? run.status : statusText(resolved, run, Date.now());
  const word = run.word === status ? status : `${status} (${run.word})`;
  const text = `#${number} ${oneLine(run.subject.title, 60)}: ${word}${why === "" ? "" : `, ${oneLine(why, 200)}`}`;
  return oneLine(text, 400);
}

/** The phases of a completed run as a table, where the flow has no log lines of its own. */
export async function printPhases(io: Io, run: Run): Promise<void> {
  if (run.status !== "completed" || io.json || io.quiet) return;
  const table = await withReader(io, async (store) => {
    if (store === undefined) return "";
    const { flow } = await flowOf(store, run);
    if (flow.log.done !== undefined) return "";
    const phases = phasesOf(flow);
    const done = (await store.attempts(run.id)).flatMap((record): Phase[] => {
      const at = phases.findIndex(({ id }) => id === record.stage);
      const row = attemptRow(record, Date.now());
      const stage = phases[at];
      if (stage === undefined) return [];
      const status = row.word ?? row.canonical ?? row.status;
      return [
        {
          number: at + 1,
          total: phases.length,
          role: stage.shownAgent,
          iteration: row.attempt,
          status,
          ...toldBy(record, stage.model ?? null),
          durationMs: row.durationMs,
          next: "",
        },
      ];
    });
    return done.length === 0 ? "" : phaseTable(done);
  });
  for (const line of table === "" ? [] : table.split("\n")) io.err(line);
}

/** The runner's report of an attempt; missing values are unknown. */
function toldBy(
  record: Parameters<typeof attemptFacts>[0],
  planned: string | null,
): Pick<Phase, "model" | "toolUses" | "tokens"> {
  const { model, toolCalls, usage } = attemptFacts(record);
  return { model: model ?? planned, toolUses: toolCalls, tokens: usage === null ? null : tokensOf(usage) };
}
