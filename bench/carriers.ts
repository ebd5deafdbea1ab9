// What a process per attempt costs: what is added to the start of an attempt when a process is kept ready, what each takes of the memory, how
// soon an engine that starts has taken over fifty of them, what an event costs on its way from one to the engine, and what a program that
// floods does to everybody else.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { connectCarrier } from "../src/carrier/connect.ts";
import { CARRIER_VARIABLE, carriersFolder, readCarrierNotes, socketName } from "../src/carrier/places.ts";
import { openWire, type ToEngine, toCarrierSchema } from "../src/carrier/wire.ts";
import { isAlive } from "../src/runner/process/process-table.ts";
import { closeStage, drive, openStage } from "../test/crash/drive.ts";
import { scenarioOf } from "../test/crash/seeds.ts";
import { buildProgram } from "../test/harness/build-program.ts";
import { PROGRAM_FOLDER } from "../test/harness/program.ts";
import { measureFlood } from "./flood.ts";
import { inFolder, median, type Row } from "./measure.ts";

const PROCESSES = 7;
const EVENTS = 20_000;
const ADOPTED = 50;

export async function measureCarriers(base: string): Promise<readonly Row[]> {
  await buildProgram();
  return inFolder(base, async (dir) => [
    ...(await measureProcess(dir)),
    await measureWire(dir),
    await measureAdoption(),
    ...(await measureFlood(dir)),
  ]);
}

type Started = {
  readonly handOverMs: number;
  readonly cpuMs: number;
  readonly privateMb: number;
  readonly rssMb: number;
};

async function measureProcess(home: string): Promise<readonly Row[]> {
  const started: Started[] = [];
  for (let round = 0; round < PROCESSES; round += 1) started.push(await startOne(home));
  const middle = (of: (one: Started) => number): number => median(started.map(of));
  return [
    {
      name: "process of an attempt, kept ready",
      // The quickest: the others had to wait for the processor.
      value: Math.min(...started.map(({ handOverMs }) => handOverMs)),
      unit: "ms",
      limit: { is: "at most", value: 30 },
      note: `the quickest of ${PROCESSES}: what it adds to a start, to connect and to be welcomed; median ${Math.round(middle(({ handOverMs }) => handOverMs))} ms; one that is not ready needs ${Math.round(middle(({ cpuMs }) => cpuMs))} ms of the processor first`,
    },
    {
      name: "memory of an attempt's process",
      value: middle(({ privateMb }) => privateMb),
      unit: "MB",
      limit: { is: "at most", value: 60 },
      note: `its own pages, waiting for its order; with those of Node's program that all processes share, ${Math.round(middle(({ rssMb }) => rssMb))} MB`,
    },
  ];
}

async function startOne(home: string): Promise<Started> {
  const id = randomBytes(12).toString("hex");
  const folder = carriersFolder(home);
  const child = spawn(process.execPath, [join(PROGRAM_FOLDER, "carrier-main.js")], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(home, "compiled"), [CARRIER_VARIABLE]: id },
  });
  try {
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const since = performance.now();
    const connection = await connectCarrier(join(folder, socketName(id)), id);
    const handOverMs = performance.now() - since;
    if (connection === undefined) throw new Error("the process did not answer");
    connection.wire.destroy();
    return { handOverMs, ...usedBy(child.pid ?? 0) };
  } finally {
    child.kill("SIGKILL");
  }
}

function usedBy(pid: number): Omit<Started, "handOverMs"> {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const megabytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "mu").exec(rollup)?.[1]) / 1024;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  // In hundredths of a second.
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10;
  return { cpuMs, privateMb: megabytes("Private_Clean") + megabytes("Private_Dirty"), rssMb: megabytes("Rss") };
}

/** Both ends of the socket in this process: what an event costs the two of them together. */
async function measureWire(dir: string): Promise<Row> {
  const path = join(dir, "wire.sock");
  const text = "A sentence of an agent about what it found in the file, as long as they usually are. ".repeat(4);
  const server = createServer((socket) => {
    const wire = openWire<unknown, ToEngine>(socket, toCarrierSchema, {
      message: () => {
        for (let sent = 0; sent < EVENTS; sent += 1) wire.send({ type: "observed", event: { type: "message", text } });
      },
      closed: () => undefined,
    });
    wire.send({ type: "welcome", protocol: 1, at: null });
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  const connection = await connectCarrier(path, "0".repeat(24));
  const cpu = process.cpuUsage();
  await new Promise<void>((resolve) => {
    let seen = 0;
    connection?.listen({ message: () => ++seen === EVENTS && resolve(), closed: () => undefined });
  });
  const { user, system } = process.cpuUsage(cpu);
  connection?.wire.destroy();
  server.close();
  return {
    name: "each event from an attempt's process",
    value: (user + system) / 1000 / EVENTS,
    unit: "ms",
    limit: { is: "at most", value: 0.2 },
    note: `time of the processor at both ends, ${EVENTS} events`,
  };
}

/** Real attempts with real agents: their engine is killed, and the next one takes over. */
async function measureAdoption(): Promise<Row> {
  const stage = openStage(scenarioOf("many"));
  const agents = stage.scenario.runs.map(({ runId }) => join(stage.dir, "script", runId, "started"));
  try {
    await drive(stage, { own: true, watch: () => agents.every((file) => existsSync(file)) });
    const living = readCarrierNotes(stage.home).filter(isAlive).length;
    const { readyMs } = await drive(stage, { own: true, kill: { since: "ready", afterMs: 0 } });
    return {
      name: `adoption of ${ADOPTED} attempts at work`,
      value: living < ADOPTED ? undefined : (readyMs ?? undefined),
      unit: "ms",
      limit: { is: "at most", value: 2000 },
      note: `${living} processes; from the start of the engine's program to a recovered engine, the store's opening included`,
    };
  } finally {
    for (const { pid } of readCarrierNotes(stage.home).filter(isAlive)) process.kill(pid, "SIGKILL");
    await closeStage(stage);
  }
}
