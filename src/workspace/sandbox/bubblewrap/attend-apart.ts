// A separate program that starts bubblewrap in a network of its own with a way to Passrail's services, and is that way. The network is made
// first, by a bubblewrap that confines nothing else: whoever makes a network with bubblewrap's own option can enter it only as root.

import { spawn } from "node:child_process";
import { readlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../../core/result.ts";
import { openBridge } from "../bridge/bridge.ts";

/** The sandbox failed, not the work. */
const FAILED = 70;
const ENTER_MS = 10_000;
const LOOK_MS = 5;
const LOOK_UP_MS = 500;

const [bwrap = "", nsenter = "", ports = "", begun = "", program = "", ...args] = process.argv.slice(2);
const isRoot = process.getuid?.() === 0;

// Everything inside gets the signal by itself; this program ends with it.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

// Bubblewrap ends with this program, so this one has to end with Passrail, which may be killed without a word.
const passrail = process.ppid;
setInterval(() => process.ppid !== passrail && process.exit(FAILED), LOOK_UP_MS).unref();

await main().catch((error: unknown) => {
  process.stderr.write(`passrail: Passrail cannot be reached from the sandbox: ${messageOf(error)}\n`);
  process.exit(FAILED);
});

async function main(): Promise<void> {
  const bridge = await openBridge([bwrap, ...ownNetwork(), "--"], ports.split(",").map(Number));
  const enter = ["--net", ...(isRoot ? [] : ["--user", "--preserve-credentials"]), `--target=${bridge.pid}`, "--"];
  const network = readlinkSync(`/proc/${bridge.pid}/ns/net`);
  const child = spawn(nsenter, [...enter, program, ...args], { stdio: "inherit" });
  child.once("error", (error) => {
    process.stderr.write(`nsenter could not be started: ${error.message}\n`);
    process.exit(FAILED);
  });
  child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
  // It is the same process that then becomes bubblewrap.
  for (const deadline = performance.now() + ENTER_MS; !isIn(child.pid ?? 0, network); await delay(LOOK_MS))
    if (performance.now() > deadline) throw new Error("its network could not be entered");
  writeFileSync(begun, "");
  bridge.letGo();
}

/** A user without root makes a network only in a user namespace of its own; files stay as they are. */
function ownNetwork(): readonly string[] {
  return [...(isRoot ? [] : ["--unshare-user"]), "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/"];
}

function isIn(pid: number, network: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`) === network;
  } catch {
    return false;
  }
}
