// Vitest's `globalSetup`: starts the process that plays scripted agents (test/fixtures/player/host.mjs). Workers and the programs that tests
// start find it by a variable.

import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./build-once.ts";

export const PLAYER_ADDRESS = "TEST_PLAYER_ADDRESS";

export async function setup(): Promise<(() => void) | undefined> {
  // It looks at the caller through /proc. The second project of vitest uses the one of the first.
  if (!existsSync("/proc/self/environ") || process.env[PLAYER_ADDRESS] !== undefined) return undefined;
  const host = fork(join(ROOT, "test/fixtures/player/host.mjs"), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await once(host, "message")) as [number];
  process.env[PLAYER_ADDRESS] = `127.0.0.1/${port}`;
  return () => host.disconnect();
}
