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
import { outcomeOf, type Row, rowLine } from "./measure.ts";
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
  for (const row of measured) console.log(rowLine(row, { withBars: !options["no-bars"] }));
  rows.push(...measured);
}
const missed = rows.filter((row) => outcomeOf(row) === "MISSED");
const json = JSON.stringify({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
  rows: rows.map((row) => ({ ...row, outcome: outcomeOf(row) })),
});
if (options.json === undefined) console.log(json);
else writeFileSync(options.json, `${json}\n`);
if (!options["no-bars"]) {
  console.log(missed.length === 0 ? "all bars ok" : `missed: ${missed.map(({ name }) => name).join("; ")}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}
