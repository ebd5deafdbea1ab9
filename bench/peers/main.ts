// `npm run bench:peers [-- --only bullmq,mastra] [--short] [--json FILE] [--dir FOLDER]`: the workload of the benchmark done by other programs,
// each beside Passrail on the same kind of store, in turns. Installs them into a cache folder of their own; CI does not run it.

import { writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../../test/harness/postgres-server.ts";
import { inFolder, median, outcomeOf, type Row, ratio, rowLine } from "../measure.ts";
import { HANDOFFS_PER_RUN } from "../workload.ts";
import { folderOf, install } from "./install.ts";
import { PASSRAIL, type Peer, PEERS } from "./peers.ts";
import { hasProgram, type Process, startContestant } from "./process.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(PEERS).join(",") },
    short: { type: "boolean", default: false },
    json: { type: "string" },
    dir: { type: "string", default: tmpdir() },
  },
});

const ROUNDS = options.short ? 3 : 7;
const RUNS = 30;
const AT_ONCE = 100;
/** Each works so long before it is measured: code has to be compiled, and an engine runs for days. */
const WARM_UP_MS = options.short ? 2000 : 4000;

type Entered = { readonly name: string; readonly process: Process; readonly one: number[]; readonly many: number[] };

await main();

async function main(): Promise<void> {
  const wanted = options.only.split(",");
  const unknown = wanted.filter((name) => PEERS[name] === undefined);
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(", ")}; known: ${Object.keys(PEERS).join(", ")}`);
  console.log(`node ${process.version}, ${availableParallelism()} cores, ${options.dir}`);
  const present = wanted.filter((name) => isThere(name, PEERS[name] as Peer));
  const rows = await inFolder(options.dir, (dir) => measure(dir, present));
  for (const row of rows) console.log(rowLine(row));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows)}\n`);
  const missed = rows.filter((row) => outcomeOf(row) === "MISSED");
  console.log(missed.length === 0 ? "all bars ok" : `missed: ${missed.map(({ name }) => name).join("; ")}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

/** Says in one line why it is not. */
function isThere(name: string, { title, packages, program }: Peer): boolean {
  const installed = install(name, packages);
  const hasAll = program === undefined || hasProgram(program.name);
  if (!installed.ok) console.log(`${title}: left out; ${installed.error.message}`);
  else if (!hasAll) console.log(`${title}: left out; there is no ${program.name} (${program.hint})`);
  return installed.ok && hasAll;
}

async function measure(dir: string, names: readonly string[]): Promise<readonly Row[]> {
  // Every commit is synced, as everybody's is here.
  const server = await startPostgres([]);
  const entered: Entered[] = [];
  try {
    for (const name of [...Object.keys(PASSRAIL), ...names]) {
      const folder = PEERS[name] === undefined ? "" : folderOf(name);
      const started = await startContestant({ name, dir: join(dir, name), server: server.url, folder });
      if (started.ok) entered.push({ name, process: started.value, one: [], many: [] });
      else console.log(`${titleOf(name)}: left out; ${started.error.message}`);
    }
    for (const { process: each } of entered)
      for (let warmMs = 0; warmMs < WARM_UP_MS; ) warmMs += (await each.work(AT_ONCE, 1)) + (await each.work(1, RUNS));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { process: each, one } of entered) one.push(rateOf(RUNS, await each.work(1, RUNS)));
      for (const { process: each, many } of entered) many.push(rateOf(AT_ONCE, await each.work(AT_ONCE, 1)));
    }
  } finally {
    for (const { process: each } of entered) await each.close();
    await server.stop();
  }
  return entered.flatMap((each) => rowsOf(each, entered));
}

function rateOf(runs: number, wallMs: number): number {
  return (runs * HANDOFFS_PER_RUN * 1000) / wallMs;
}

function titleOf(name: string): string {
  return PEERS[name]?.title ?? (name === "passrail" ? PASSRAIL.passrail : PASSRAIL["passrail-postgres"]).title;
}

function rowsOf({ name, one, many }: Entered, all: readonly Entered[]): readonly Row[] {
  const peer = PEERS[name];
  const title = titleOf(name);
  const rates: Row[] = [
    { name: `${title}: 1 run`, value: median(one), unit: "/s" },
    { name: `${title}: 100 runs`, value: median(many), unit: "/s" },
  ];
  const ours = all.find((each) => each.name === peer?.beside);
  if (peer === undefined || ours === undefined) return rates;
  const limit = { is: "at least", value: peer.bar } as const;
  const against = [
    { name: `  Passrail against it, 1 run`, value: ratio(ours.one, one), unit: "x", limit },
    { name: `  Passrail against it, 100 runs`, value: ratio(ours.many, many), unit: "x", limit },
  ];
  return [...rates, ...against];
}
