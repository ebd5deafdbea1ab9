// `inbox`: the items that wait for a person, with the commands that answer them, and then the loose ends, with the commands that settle
// them. `--quiet` prints only what can be answered by its id.

import type { LooseEnd } from "../../../core/view/loose-end.ts";
import { dayBudgetNote, groupDayBudgets } from "../../../core/view/day-budget.ts";
import { EXIT } from "../../errors.ts";
import type { Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { looseEndCells, looseEndJson, looseEndLines, looseEndsOf, unseenLine } from "./loose-ends.ts";
import { withReader } from "../../reader.ts";
import { waitingLines } from "../../terminal/progress.ts";
import { askedBy } from "../../../core/view/item-text.ts";
import { itemJson } from "../../terminal/run-view.ts";

type Waiting = {
  readonly number: number;
  readonly record: Awaited<ReturnType<Store["inbox"]>>[number];
  /** Further runs that wait for the same day's budget. */
  readonly others: number;
};

export async function inboxOf(store: Store): Promise<readonly Waiting[]> {
  return groupDayBudgets(await store.inbox()).map(({ others, ...record }) => ({
    record,
    number: record.number,
    others,
  }));
}

export async function inbox(io: Io): Promise<number> {
  return withReader(io, async (opened) => {
    const store = opened === undefined ? undefined : readingEachRunOnce(opened);
    const waiting = store === undefined ? [] : await inboxOf(store);
    const { ends: loose, unseen } = await looseEndsOf(io, store);
    if (io.json) await printAsJson(io, store, waiting, { looseEnds: loose.map(looseEndJson), unseen });
    else if (io.quiet) for (const { record } of waiting) io.out(`${record.runId}.${record.item.number}`);
    else if (io.plain) printPlain(io, waiting, loose);
    else if (waiting.length + loose.length === 0) io.out("Nothing waits for you.");
    else await printRich(io, store, waiting, loose);
    if (unseen > 0 && !io.json && !io.quiet) io.err(unseenLine(unseen));
    return EXIT.ok;
  });
}

/** What waits and what is loose is found in the same runs. */
function readingEachRunOnce(store: Store): Store {
  const runs = new Map<string, ReturnType<Store["loadRun"]>>();
  return {
    ...store,
    loadRun(runId) {
      const known = runs.get(runId) ?? store.loadRun(runId);
      runs.set(runId, known);
      return known;
    },
  };
}

async function printAsJson(
  io: Io,
  store: Store | undefined,
  waiting: readonly Waiting[],
  rest: { readonly looseEnds: readonly unknown[]; readonly unseen: number },
): Promise<void> {
  const { briefingOfItem } = await import("../../gate-lines.ts");
  const items = waiting.map(async ({ number, record, others }) => {
    const run = (await store?.loadRun(record.runId))?.run;
    return {
      ...itemJson(record.runId, number, record.item, run),
      flow: record.flow,
      subject: record.subject,
      ...(others === 0 ? {} : { others }),
      briefing: run === undefined || store === undefined ? null : await briefingOfItem(io, store, run, record.item),
    };
  });
  printJson(io, { items: await Promise.all(items), ...rest });
}

function printPlain(io: Io, waiting: readonly Waiting[], loose: readonly LooseEnd[]): void {
  const items = waiting.map(({ number, record: { runId, item, flow, subject } }) => [
    `${runId}.${item.number}`,
    `${number}.${item.number}`,
    item.kind,
    item.stage,
    item.who,
    flow,
    item.openedAt,
    subject.title,
    askedBy(item).join(" / "),
  ]);
  printTable(
    io,
    [...items, ...loose.map(looseEndCells)].map((row) => row.map((value) => ({ name: "", value }))),
  );
}

async function printRich(
  io: Io,
  store: Store | undefined,
  waiting: readonly Waiting[],
  loose: readonly LooseEnd[],
): Promise<void> {
  // Lists for programs do not load what people are told about gates.
  const { createGateLines, isJudged } = await import("../../gate-lines.ts");
  const gateLines = store === undefined ? undefined : createGateLines(io, store);
  for (const [index, { number, record, others }] of waiting.entries()) {
    const run = (await store?.loadRun(record.runId))?.run;
    if (index > 0) io.out("");
    io.out(paint(io, "bold", oneLine(`${number}.${record.item.number}  ${record.subject.title}`, io.columns)));
    const about = `flow ${record.flow} · ${record.subject.id} · ${age(record.item.openedAt)}`;
    io.out(paint(io, "dim", oneLine(about, io.columns)));
    for (const line of waitingLines(record.item, number, run)) io.out(line);
    const note = dayBudgetNote(record.item, others);
    if (note !== undefined) io.out(oneLine(note, io.columns));
    if (!isJudged(record.item) || run === undefined) continue;
    for (const line of (await gateLines?.(run)) ?? []) io.out(line);
  }
  for (const [index, end] of loose.entries()) {
    if (waiting.length + index > 0) io.out("");
    for (const line of looseEndLines(io, end)) io.out(line);
  }
}
