// What a program that prints as fast as it can does to everybody else: the real daemon, one flooding program, and requests beside it. A
// coding agent's lines are read in a process of its own; those of a command in the daemon itself.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attemptFacts } from "../src/core/attempt-facts.ts";
import { approveFiles } from "../test/harness/approve-files.ts";
import { openForReading } from "../test/harness/open-for-reading.ts";
import { PROGRAM } from "../test/harness/program.ts";
import { until } from "../test/harness/until.ts";
import { percentile, type Row } from "./measure.ts";
import { type Served, startServed } from "./served.ts";

const ASKED = 600;
const PATHS = ["/api/runs?limit=50", "/api/now", "/api/runs/1"];
const LIMIT_MS = 20;

export async function measureFlood(dir: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const who of ["agent", "command"] as const) rows.push(await floodBy(who, join(dir, who)));
  return rows;
}

async function floodBy(who: "agent" | "command", dir: string): Promise<Row> {
  const [home, project] = [join(dir, "state"), join(dir, "project")];
  layOut(project, home);
  const served = await startServed(home, project, [PROGRAM, "up", "--port", "0"]);
  try {
    const body = { flow: "flood", title: "Flood", agents: who === "agent" ? {} : { "*": join(project, "flood") } };
    await send(served, "/api/runs", body);
    const id = await until("the run is stored", () => runIn(home), 60_000);
    await until("it floods", () => startedIn(home, id), 60_000);
    const took: number[] = [];
    for (let at = 0; at < ASKED; at += 1) took.push(await served.ask(PATHS[at % PATHS.length] ?? ""));
    await send(served, `/api/runs/${id}/cancel`, {});
    const rate = await until("it has ended", () => rateIn(home, id), 60_000);
    const idle: number[] = [];
    for (let at = 0; at < ASKED; at += 1) idle.push(await served.ask(PATHS[at % PATHS.length] ?? ""));
    const ms = (values: readonly number[], share: number): string => percentile(values, share).toFixed(1);
    return {
      name: `API p99 while ${who === "agent" ? "an agent" : "a command"} floods`,
      value: percentile(took, 0.99),
      unit: "ms",
      limit: { is: "at most", value: LIMIT_MS },
      note: `${Math.round(rate)} MB/s were read meanwhile; p50 ${ms(took, 0.5)} ms; afterwards p50 ${ms(idle, 0.5)} ms, p99 ${ms(idle, 0.99)} ms`,
    };
  } finally {
    await served.end("SIGTERM");
  }
}

/** A flow with as much output as is allowed, and a program that prints the lines of Claude Code without a pause. */
function layOut(project: string, home: string): void {
  mkdirSync(join(project, ".passrail/flows"), { recursive: true });
  mkdirSync(home, { recursive: true });
  const said = { type: "assistant", message: { id: "m", content: [{ type: "text", text: "x".repeat(900) }] } };
  const begin = { type: "system", subtype: "init", session_id: "00000000-0000-4000-8000-000000000000", model: "m" };
  const [first, line] = [begin, said].map((event) => JSON.stringify(event));
  writeFileSync(join(project, "flood"), `#!/bin/sh\nprintf '%s\\n' '${first}'\nexec yes '${line}'\n`);
  chmodSync(join(project, "flood"), 0o755);
  const flow = {
    flow: "flood",
    version: 1,
    title: "A program that prints without a pause",
    subject: "task",
    workspace: { mode: "in-place" },
    allow_ungated: true,
    stages: [{ id: "work", agent: "builder", limits: { output: "100mb" } }],
  };
  writeFileSync(join(project, ".passrail/flows/flood.yaml"), JSON.stringify(flow));
  const settings = { runner: "claude", runners: { claude: { command: [join(project, "flood")] } } };
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(home, project);
}

async function send({ url, token }: Served, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
}

async function inStore<T>(home: string, read: (store: NonNullable<ReturnType<typeof openForReading>>) => Promise<T>) {
  const store = openForReading(home);
  try {
    return store === undefined ? undefined : await read(store);
  } finally {
    store?.close();
  }
}

const runIn = (home: string): Promise<string | undefined> =>
  inStore(home, async (store) => (await store.listRuns({ limit: 1 }))[0]?.id);

const factsIn = (home: string, id: string) =>
  inStore(home, async (store) => (await store.attempts(id)).map(attemptFacts).at(0));

const startedIn = async (home: string, id: string): Promise<true | undefined> =>
  (await factsIn(home, id))?.process === null ? undefined : true;

/** Megabytes per second, over the whole life of the program. */
async function rateIn(home: string, id: string): Promise<number | undefined> {
  return inStore(home, async (store) => {
    const facts = (await store.attempts(id))[0]?.facts ?? {};
    const { outputBytes, durationMs } = facts;
    if (typeof outputBytes !== "number" || typeof durationMs !== "number") return undefined;
    return outputBytes / 1000 / durationMs;
  });
}
