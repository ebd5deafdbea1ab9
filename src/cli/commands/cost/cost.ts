// `cost`: the cost of attempts, grouped by agent, stage, day and so on. An unknown cost is shown as unknown, never as zero.

import { amountText, SPENDING_KEYS, type SpendingKey } from "../../../core/budget/budget.ts";
import { EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import type { Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, paint, printJson, printTable, shortDuration } from "../../terminal/output.ts";
import { withReader } from "../../reader.ts";
import { sinceOf } from "../../since.ts";
import { optional } from "../../../core/optional.ts";

export type CostOptions = { readonly by?: string; readonly since?: string };

type Row = Awaited<ReturnType<Store["spending"]>>[number];

export async function cost(io: Io, reference: string | undefined, options: CostOptions): Promise<number> {
  const by = keyOf(options.by);
  const since = options.since === undefined ? undefined : sinceOf(options.since);
  return withReader(io, async (store) => {
    const run = reference === undefined ? undefined : (await requireRun(store, reference)).run;
    const query = {
      ...optional({ since }),
      ...(run === undefined ? {} : { runId: run.id }),
    };
    const rows = store === undefined ? [] : await store.spending({ by, ...query });
    const total = sumOf(rows);
    const completed = store === undefined ? null : await completedRuns(store, query);
    if (io.json) {
      printJson(io, { by, since: since ?? null, run: run?.id ?? null, rows, total, completed });
    } else if (rows.length === 0) {
      io.err("No costs yet. Programs of your own (command) are not metered.");
    } else if (io.quiet) {
      for (const { key } of rows) io.out(key ?? "");
    } else if (io.plain) {
      printTable(io, rows.map(plainCells));
    } else if (store !== undefined) {
      const named = by === "run" ? await Promise.all(rows.map((row) => withNumber(store, row))) : rows;
      const body = [...named.map(cells), ...(rows.length > 1 ? [cells({ ...total, key: "total" })] : [])];
      printTable(io, [heads(by), ...body]);
      for (const note of notesOf(by, total, completed)) io.out(paint(io, "dim", note));
    }
    return EXIT.ok;
  });
}

function keyOf(by: string | undefined): SpendingKey {
  const found = SPENDING_KEYS.find((key) => key === (by ?? "agent"));
  if (found !== undefined) return found;
  throw usageError("key_unknown", `--by ${by ?? ""}: expected one of ${SPENDING_KEYS.join(", ")}.`);
}

function sumOf(rows: readonly Row[]): Omit<Row, "key"> {
  const sum = (key: Exclude<keyof Row, "key">): number => rows.reduce((total, row) => total + row[key], 0);
  return {
    attempts: sum("attempts"),
    usd: Math.round(sum("usd") * 1e6) / 1e6,
    unknownUsd: sum("unknownUsd"),
    assumedUsd: Math.round(sum("assumedUsd") * 1e6) / 1e6,
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cachedTokens"),
    unknownTokens: sum("unknownTokens"),
    assumedTokens: sum("assumedTokens"),
    durationMs: sum("durationMs"),
  };
}

/** Known cost per completed run, and how many of them have attempts of unknown cost. */
async function completedRuns(store: Store, query: { readonly since?: string; readonly runId?: string }) {
  let [runs, usd, unknown] = [0, 0, 0];
  for (const row of await store.spending({ by: "run", ...query })) {
    if ((await store.loadRun(row.key ?? ""))?.run.status !== "completed") continue;
    runs += 1;
    usd += row.usd;
    unknown += row.unknownUsd > 0 ? 1 : 0;
  }
  return { runs, usdPerRun: runs === 0 ? null : Math.round((usd / runs) * 1e6) / 1e6, withUnknownCost: unknown };
}

async function withNumber(store: Store, row: Row): Promise<Row> {
  const found = (await store.findRuns(row.key ?? "")).find(({ id }) => id === row.key);
  return found === undefined ? row : { ...row, key: `#${found.number} ${row.key ?? ""}` };
}

function heads(by: SpendingKey): readonly Column[] {
  return [by, "attempts", "cost", "tokens in", "cached", "out", "time"].map((value) => ({
    name: "",
    value,
    color: "dim",
  }));
}

function cells(row: Row): readonly Column[] {
  const { key, attempts, inputTokens, cachedTokens, outputTokens, unknownTokens } = row;
  const tokens = (value: number): string =>
    unknownTokens === attempts ? "unknown" : `${value.toLocaleString("en-US")}${unknownTokens > 0 ? "+" : ""}`;
  return [
    key ?? "not named",
    String(attempts),
    costText(row),
    tokens(inputTokens),
    tokens(cachedTokens),
    tokens(outputTokens),
    shortDuration(row.durationMs),
  ].map((value) => ({ name: "", value }));
}

/** `$1.25`, `unknown (about $2.00)`, `$1.25 + 2 unknown (about $2.00)`. */
function costText({ attempts, usd, unknownUsd, assumedUsd }: Row): string {
  if (unknownUsd === 0) return amountText("usd", usd);
  const about = assumedUsd > 0 ? ` (about ${amountText("usd", assumedUsd)})` : "";
  return unknownUsd === attempts ? `unknown${about}` : `${amountText("usd", usd)} + ${unknownUsd} unknown${about}`;
}

/** Numbers as they are, so that others can compute with them; an unknown sum is empty. */
function plainCells(row: Row): readonly Column[] {
  const known = (value: number, unknown: number): string => (unknown === row.attempts ? "" : String(value));
  return [
    row.key ?? "",
    String(row.attempts),
    known(row.usd, row.unknownUsd),
    String(row.unknownUsd),
    String(row.assumedUsd),
    known(row.inputTokens, row.unknownTokens),
    known(row.cachedTokens, row.unknownTokens),
    known(row.outputTokens, row.unknownTokens),
    String(row.durationMs),
  ].map((value) => ({ name: "", value }));
}

function notesOf(
  by: SpendingKey,
  total: Omit<Row, "key">,
  completed: Awaited<ReturnType<typeof completedRuns>> | null,
): readonly string[] {
  const perRun = completed?.usdPerRun ?? null;
  return [
    ...(perRun === null || completed === null
      ? []
      : [
          `Per completed run: ${amountText("usd", perRun)} known, over ${completed.runs} run${completed.runs === 1 ? "" : "s"}${completed.withUnknownCost === 0 ? "" : `, ${completed.withUnknownCost} of them with unknown cost`}`,
        ]),
    ...(total.unknownUsd === 0
      ? []
      : ["Unknown: the agent did not report it, or is still running. About: the amount reserved in the budgets."]),
    ...(by === "day" ? ["A day is the UTC day on which an attempt started."] : []),
  ];
}
