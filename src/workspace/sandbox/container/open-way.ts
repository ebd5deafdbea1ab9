// The way from a container to Passrail, for the program beside it: a gate at which the container's program waits, and listeners in its network.

import { execFile } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { openBridge } from "../bridge/bridge.ts";
import type { WayToPassrail } from "./attended.ts";
import { attendGate } from "./gate.ts";

const ANSWER_MS = 20_000;

/** The program of the container begins when it can reach Passrail, or never. */
export async function openWay(
  { ports, nsenter, gate: folder, begun }: WayToPassrail,
  client: string,
  container: string,
): Promise<void> {
  const gate = attendGate(folder);
  if (!(await gate.reached())) throw new Error("it did not start in time, or its image has no /bin/sh");
  const asked = ["inspect", "--format", "{{.State.Pid}}", container];
  const { stdout } = await promisify(execFile)(client, asked, { timeout: ANSWER_MS, killSignal: "SIGKILL" });
  const pid = Number(stdout.trim());
  if (!Number.isInteger(pid) || pid <= 1) throw new Error("the engine names no process of it");
  const isRoot = process.getuid?.() === 0;
  const handles = ["net", ...(isRoot ? [] : ["user"])].map((name) => openSync(`/proc/${pid}/ns/${name}`, "r"));
  // Looked at after they were opened: an engine elsewhere names numbers that are other processes here.
  if (!gate.isBefore(pid)) throw new Error("its processes are not on this machine");
  const user = isRoot ? [] : ["--user=/proc/self/fd/5", "--preserve-credentials"];
  const bridge = await openBridge([nsenter, "--net=/proc/self/fd/4", ...user, "--"], ports, handles);
  bridge.letGo();
  for (const handle of handles) closeSync(handle);
  writeFileSync(begun, "");
  gate.open();
}
