// `npm run bench [-- --json FILE] [--no-bars] [--dir FOLDER] [--only web|carriers|gateway|sandboxes|throughput|postgres|machines] [--short]`: runs all measurements, prints a table and the same as
// JSON. Exits with 1 when a bar is missed. docs/benchmarks.md explains each line.

import { writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { measureAgents } from "./agents.ts";
import { measureAttempts } from "./attempts.ts";
import { measureCarriers } from "./carriers.ts";
import { measureChecks } from "./checks.ts";
import { measureCore } from "./core.ts";
import { measureDaemon } from "./daemon.ts";
import { measureDispatch } from "./dispatch.ts";
import { measureEvents } from "./events.ts";
import { measureGateway } from "./gateway.ts";
import { measureSandboxes } from "./sandboxes.ts";
import { measureLateRevisions, measureLateRuns } from "./growth.ts";
import { measureMachines } from "./machines.ts";
import type { Row } from "./measure.ts";
import { measurePostgres } from "./postgres.ts";
import { measureProcesses } from "./processes.ts";
import { measurePrompts } from "./prompts.ts";
import { measureRequests } from "./requests.ts";
import { measureReaders } from "./readers.ts";
import { measureThroughput } from "./throughput.ts";
import { measureTickets } from "./tickets.ts";
import { measureTracks } from "./tracks.ts";
import { LONG, measureWeb, SHORT } from "./web.ts";
import { measureWorkspaces } from "./workspaces.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    "no-bars": { type: "boolean", default: false },
    dir: { type: "string", default: tmpdir() },
    // Only the dashboard (web), the processes of attempts (carriers), the gateway, the start of sandboxes, handoffs and their store (throughput), the time between agents (attempts), starts and memory (processes), Postgres, or workers (machines); with smaller amounts, to check that every line appears.
    only: { type: "string", default: "" },
    short: { type: "boolean", default: false },
  },
});

const web = () => measureWeb(options.dir, options.short ? SHORT : LONG);
const attempts = () => measureAttempts(options.dir);
const dispatch = () => measureDispatch(options.dir);
const processes = () => measureProcesses(options.dir);
const gateway = () => measureGateway(options.dir);
const sandboxes = () => measureSandboxes(options.dir);
const carriers = () => measureCarriers(options.dir);
const throughput = () => measureThroughput(options.dir);
const postgres = () => measurePostgres(options.dir, options.short);
const machines = () => measureMachines(options.short);
const EVERYTHING = [
  throughput,
  () => measureLateRevisions(options.dir),
  processes,
  () => measureLateRuns(options.dir),
  async () => measureCore(),
  async () => measureReaders(),
  async () => measurePrompts(),
  measureRequests,
  gateway,
  sandboxes,
  () => measureAgents(options.dir),
  () => measureEvents(options.dir),
  () => measureDaemon(options.dir),
  () => measureTickets(options.dir),
  dispatch,
  () => measureWorkspaces(options.dir),
  attempts,
  carriers,
  () => measureChecks(options.dir),
  () => measureTracks(),
  postgres,
  machines,
  web,
];
const ONLY: Readonly<Record<string, readonly (() => Promise<readonly Row[]>)[]>> = {
  web: [web],
  carriers: [carriers],
  gateway: [gateway],
  sandboxes: [sandboxes],
  throughput: [throughput],
  attempts: [attempts, dispatch],
  processes: [processes],
  postgres: [postgres],
  machines: [machines],
};
const MEASUREMENTS = ONLY[options.only] ?? EVERYTHING;

console.log(
  `node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${options.dir}`,
);
const rows: Row[] = [];
for (const measure of MEASUREMENTS) {
  const measured = await measure();
  for (const row of measured) console.log(line(row));
  rows.push(...measured);
}
const missed = rows.filter((row) => outcome(row) === "MISSED");
const json = JSON.stringify({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
  rows: rows.map((row) => ({ ...row, outcome: outcome(row) })),
});
if (options.json === undefined) console.log(json);
else writeFileSync(options.json, `${json}\n`);
if (!options["no-bars"]) {
  console.log(missed.length === 0 ? "all bars ok" : `missed: ${missed.map(({ name }) => name).join("; ")}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

function line(row: Row): string {
  const { name, value, unit, limit, note } = row;
  const shown = value === undefined ? "-" : `${round(value)} ${unit}`;
  const bar = limit === undefined || options["no-bars"] ? "" : `${limit.is} ${limit.value} ${unit}`;
  const verdict = options["no-bars"] ? "" : outcome(row);
  return `${name.padEnd(42)}${shown.padStart(14)}  ${bar.padEnd(18)}${verdict.padEnd(8)}${note ?? ""}`.trimEnd();
}

/** A value that could not be measured has not met its bar. */
function outcome({ value, limit }: Row): "ok" | "MISSED" | "" {
  if (limit === undefined) return "";
  if (value === undefined) return "MISSED";
  return (limit.is === "at least" ? value >= limit.value : value <= limit.value) ? "ok" : "MISSED";
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3);
}
