// The daemon of the night, to be killed from outside: driver WORLD. It is what `passrail up --work` opens, with the clock of the file
// WORLD/clock, which the test moves. It prints its address.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDaemon } from "../../src/daemon/daemon.ts";
import { logFile, openLogFile } from "../../src/daemon/log.ts";
import type { Clock } from "../../src/engine/clock.ts";

const [world = ""] = process.argv.slice(2);
const home = join(world, "home");

mkdirSync(join(home, "logs"), { recursive: true });
const clock = clockOf(join(world, "clock"));
const opened = await openDaemon({
  home,
  project: join(world, "project"),
  // Attempts in processes of their own have the real clock.
  environment: { ...process.env, PASSRAIL_ATTEMPT_PROCESS: "engine" },
  version: "0.0.0-night",
  flags: {},
  port: 0,
  host: "127.0.0.1",
  hosts: [],
  log: openLogFile(logFile(home), { now: () => clock.now() }),
  work: true,
  clock,
});
if (!opened.ok) throw new Error(opened.error.message);
const daemon = opened.value;
process.on("SIGTERM", () => void daemon.close("drain").then(() => process.exit(0)));
process.stdout.write(`${daemon.url}\n`);

/** The time of the file, and what has passed since the file got it. */
function clockOf(file: string): Clock {
  const startMs = Date.parse(readFileSync(file, "utf8"));
  let seen = { text: "", ms: 0, at: 0 };
  const nowMs = (): number => {
    const text = readFileSync(file, "utf8");
    if (text !== seen.text) seen = { text, ms: Math.max(Date.parse(text), last()), at: performance.now() };
    return last();
  };
  const last = (): number => (seen.text === "" ? startMs : seen.ms + (performance.now() - seen.at));
  return { now: () => new Date(nowMs()).toISOString(), monotonicMs: () => nowMs() - startMs };
}
