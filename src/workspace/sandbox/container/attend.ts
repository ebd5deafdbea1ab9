// A separate program that starts a container engine's client and ends the container with it. A killed client leaves its container running,
// so Passrail signals this program to end an attempt, and it removes the container in time. Where the container's program must reach
// Passrail, this program is also its way there: it opens the way before the program begins, and the way ends with it.

import { execFile, spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { promisify } from "node:util";
import { messageOf } from "../../../core/result.ts";
import { openBridge } from "../bridge/bridge.ts";
import { readAttended, type WayToPassrail } from "./attended.ts";
import { type Gate, makeGate } from "./gate.ts";
import { removal } from "./removal.ts";

/** Less than the time between TERM and KILL of an attempt. */
const PATIENCE_MS = 3_000;
const REMOVE_MS = 20_000;
const ANSWER_MS = 20_000;
/** The sandbox failed, not the work. */
const FAILED = 70;

const { client, container, way, args } = readAttended(process.argv.slice(2));
let removing: Promise<void> | undefined;
let late: NodeJS.Timeout | undefined;
let failure: string | undefined;

const gate = way === null ? null : makeGate(way.gate);
const child = spawn(client, args, { stdio: "inherit" });

// The client gets the signal too and forwards it; a program inside that ignores it has this long.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    late ??= setTimeout(() => void remove(), PATIENCE_MS);
  });
}

child.once("error", (error) => {
  process.stderr.write(`${client} could not be started: ${error.message}\n`);
  process.exit(127);
});

child.once("exit", (code, signal) => {
  clearTimeout(late);
  // It exited without a signal and with the program's code: the engine has removed the container.
  const isGone = signal === null && code !== null && code < 125 && late === undefined;
  const end = (): never =>
    process.exit(failure === undefined ? (code ?? 128 + constants.signals[signal ?? "SIGKILL"]) : FAILED);
  if (isGone) end();
  else void remove().then(end);
});

if (gate !== null && way !== null) {
  openWay(gate, way).catch((error: unknown) => {
    failure = messageOf(error);
    process.stderr.write(`passrail: Passrail cannot be reached from the container: ${failure}\n`);
    void remove();
  });
}

/** The program of the container begins when it can reach Passrail, or never. */
async function openWay(before: Gate, { ports, begun }: WayToPassrail): Promise<void> {
  if (!(await before.reached())) throw new Error("it did not start in time, or its image has no /bin/sh");
  const asked = ["inspect", "--format", "{{.State.Pid}}", container];
  const { stdout } = await promisify(execFile)(client, asked, { timeout: ANSWER_MS, killSignal: "SIGKILL" });
  const pid = Number(stdout.trim());
  if (!Number.isInteger(pid) || pid <= 1) throw new Error("the engine names no process of it");
  const isRoot = process.getuid?.() === 0;
  const handles = ["net", ...(isRoot ? [] : ["user"])].map((name) => openSync(`/proc/${pid}/ns/${name}`, "r"));
  // Looked at after they were opened: an engine elsewhere names numbers that are other processes here.
  if (!before.isBefore(pid)) throw new Error("its processes are not on this machine");
  const user = isRoot ? [] : ["--user=/proc/self/fd/5", "--preserve-credentials"];
  const bridge = await openBridge(["nsenter", "--net=/proc/self/fd/4", ...user, "--"], ports, handles);
  bridge.letGo();
  for (const handle of handles) closeSync(handle);
  writeFileSync(begun, "");
  before.open();
}

function remove(): Promise<void> {
  removing ??= new Promise((resolve) => {
    execFile(client, [...removal(client), container], { timeout: REMOVE_MS, killSignal: "SIGKILL" }, () => resolve());
  });
  return removing;
}
