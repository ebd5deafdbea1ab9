// The daemon with a store after years of use: start-up time, memory, and response time, idle and while a hundred runs commit. Requests go
// over a socket to another process.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type BigStore, fillStore } from "./big-store.ts";
import { inFolder, median, percentile, type Row, ratio } from "./measure.ts";
import { builtCommand, NOT_BUILT } from "./processes.ts";
import type { Told } from "./serve.ts";
import { type Served, startServed } from "./served.ts";

const RUNS = 10_000;
const FEW_RUNS = 200;
const STARTS = 5;
const ROUNDS = 10;
const ASKED = 50;
const ASKED_BESIDE = 200;
/** For every page. */
const PAGE_MS = 50;
/** Maximum ratio to the time in a small store, and to a concurrent handoff (p99). */
const BARS = {
  list: { few: 1.5, handoff: 3 },
  show: { few: 1.5, handoff: 3 },
  // Starts git, and waits several turns of the event loop for its answer.
  inbox: { few: 1.5, handoff: 5 },
  now: { few: 1.5, handoff: 3 },
  tickets: { few: 2, handoff: 3 },
  "open tickets": { few: 1.5, handoff: 3 },
  // Looks at every title; a text that no title has is the worst case.
  search: { few: 2, handoff: 3 },
  "late page": { few: 1.5, handoff: 3 },
} as const;

export async function measureDaemon(base: string): Promise<readonly Row[]> {
  const command = builtCommand();
  if (command === undefined) return [{ name: "daemon", value: undefined, unit: "ms", note: NOT_BUILT }];
  return inFolder(base, async (dir) => {
    const project = join(dir, "project");
    mkdirSync(project);
    const git = ["-C", project, "-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    execFileSync("git", [...git, "init", "-q", "-b", "main"]);
    execFileSync("git", [...git, "commit", "-q", "--allow-empty", "-m", "first"]);
    const few = await fillStore(join(dir, "few"), project, FEW_RUNS);
    const big = await fillStore(join(dir, "big"), project, RUNS);
    const up = (home: string) => startServed(join(dir, home), project, [command, "up", "--port", "0"]);
    const rows = [madeRow(big)];
    rows.push(...(await measureStarts(() => up("big"))));
    rows.push(...(await measureReads([await up("few"), few], [await up("big"), big])));
    const serve = join(import.meta.dirname, "serve.ts");
    rows.push(
      ...(await measureBeside(await startServed(join(dir, "big"), project, [serve, join(dir, "big"), project]))),
    );
    const again = await up("big");
    await again.end("SIGTERM");
    rows.push({
      name: "the same after a crash",
      value: again.firstMs,
      unit: "ms",
      limit: { is: "at most", value: 3000 },
      note: "killed after thousands of commits",
    });
    return rows;
  });
}

function madeRow({ runs, events, waiting, tookMs }: BigStore): Row {
  const count = (value: number) => value.toLocaleString("en-US");
  return {
    name: "a big store, made by commits",
    value: tookMs / 1000,
    unit: "s",
    note: `${count(runs)} runs, ${count(waiting)} of them waiting; ${count(events)} events`,
  };
}

async function measureStarts(start: () => Promise<Served>): Promise<readonly Row[]> {
  const took: number[] = [];
  const megabytes: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const served = await start();
    took.push(served.firstMs);
    megabytes.push(served.megabytes());
    await served.end("SIGTERM");
  }
  return [
    {
      name: "passrail up, until the first answer",
      value: median(took),
      unit: "ms",
      limit: { is: "at most", value: 3000 },
      note: "the built program, with the big store",
    },
    {
      name: "memory of the daemon then",
      value: median(megabytes),
      unit: "MB",
      limit: { is: "at most", value: 300 },
    },
  ];
}

type Read = keyof typeof BARS;

const FILTERS = ["", "&status=waiting", "&status=stopped", "&status=shipped", "&flow=feature", "&flow=other"];

/** The path of the nth request: spread over the store, so that no part is always cached. */
function pathOf(read: Read, { runs, waiting, longRun, longEvents }: BigStore, at: number): string {
  // The first run is the long one, and the last ones wait; those also ask git.
  const number = 2 + ((at * 7919) % (runs - waiting - 1));
  switch (read) {
    case "list":
      return `/api/runs?limit=50&before=${number + 1}${FILTERS[at % FILTERS.length] ?? ""}`;
    case "show":
      return `/api/runs/${number}`;
    case "inbox":
      return "/api/inbox";
    case "now":
      return "/api/now";
    case "tickets":
      return `/api/tickets?limit=50&before=${number + 1}`;
    case "open tickets":
      return "/api/tickets?open=true&limit=50";
    case "search":
      return `/api/runs?limit=50&q=no+such+text+${at}`;
    case "late page":
      return `/api/runs/${longRun}/events?limit=50&after=${longEvents - 100 + (at % 50)}`;
  }
}

async function measureReads(
  [fewServed, few]: readonly [Served, BigStore],
  [bigServed, big]: readonly [Served, BigStore],
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const read of Object.keys(BARS) as Read[]) {
    const all: number[] = [];
    const medians: { few: number[]; big: number[] } = { few: [], big: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const first = await askMany(fewServed, (at) => pathOf(read, few, round * ASKED + at), ASKED);
      const second = await askMany(bigServed, (at) => pathOf(read, big, round * ASKED + at), ASKED);
      // Code is compiled in the first round.
      if (round === 0) continue;
      medians.few.push(median(first));
      medians.big.push(median(second));
      all.push(...second);
    }
    const { few: times } = BARS[read];
    rows.push(
      { name: `${read} p50`, value: percentile(all, 0.5), unit: "ms" },
      { name: `${read} p95`, value: percentile(all, 0.95), unit: "ms" },
      { name: `${read} p99`, value: percentile(all, 0.99), unit: "ms", limit: { is: "at most", value: PAGE_MS } },
      {
        name: `${read}, 10,000 runs against ${FEW_RUNS}`,
        value: ratio(medians.big, medians.few),
        unit: "x",
        limit: { is: "at most", value: times },
      },
    );
  }
  const cost: { few: number[]; big: number[] } = { few: [], big: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    cost.few.push(await fewServed.ask("/api/cost"));
    cost.big.push(await bigServed.ask("/api/cost"));
  }
  rows.push(
    { name: "cost of everything", value: median(cost.big), unit: "ms", note: "from running sums" },
    {
      name: `cost of everything, 10,000 runs against ${FEW_RUNS}`,
      value: ratio(cost.big, cost.few),
      unit: "x",
      limit: { is: "at most", value: 1.5 },
    },
    {
      name: "memory of the daemon after all that",
      value: bigServed.megabytes(),
      unit: "MB",
      limit: { is: "at most", value: 300 },
    },
  );
  await fewServed.end("SIGTERM");
  await bigServed.end("SIGTERM");
  return rows;
}

/** Reads while a hundred runs commit. A reader waits for the commit that is under way, so handoffs at the same time are the measure. */
async function measureBeside(served: Served): Promise<readonly Row[]> {
  const big: BigStore = { runs: RUNS, events: 0, waiting: 0, longRun: 1, longEvents: 0, tookMs: 0 };
  served.send("work");
  const took: Record<"list" | "show" | "inbox", number[]> = { list: [], show: [], inbox: [] };
  for (let at = 0; at < ASKED_BESIDE; at += 1) {
    for (const read of ["list", "show", "inbox"] as const) took[read].push(await served.ask(pathOf(read, big, at)));
  }
  const told = JSON.parse(await served.tell("rest")) as Told;
  await served.end("SIGKILL");
  const rate = Math.round((told.handoffs * 1000) / told.tookMs).toLocaleString("en-US");
  return (["list", "show", "inbox"] as const).flatMap((read): Row[] => [
    {
      name: `${read} p99 while 100 runs commit`,
      value: percentile(took[read], 0.99),
      unit: "ms",
      note: `p50 ${percentile(took[read], 0.5).toFixed(1)} ms; ${rate} handoffs/s beside it, their p99 ${told.p99.toFixed(1)} ms`,
    },
    {
      name: `${read}, against a handoff's own p99`,
      value: percentile(took[read], 0.99) / told.p99,
      unit: "x",
      limit: { is: "at most", value: BARS[read].handoff },
    },
  ]);
}

async function askMany(served: Served, path: (at: number) => string, times: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (let at = 0; at < times; at += 1) took.push(await served.ask(path(at)));
  return took;
}
