// The command of a scripted agent. While vitest runs, one process plays most of them (play-agents.ts).

import { join } from "node:path";
import { ROOT } from "./build-once.ts";
import { PLAYER_ADDRESS } from "./play-agents.ts";

const FOLDER = join(ROOT, "test/fixtures/player");

export function playerOf(scriptFile: string): [string, ...string[]] {
  const address = process.env[PLAYER_ADDRESS];
  if (address === undefined) return [process.execPath, join(FOLDER, "play.mjs"), scriptFile];
  // Files first: those are shown in a sandbox.
  return ["/bin/bash", join(FOLDER, "relay.sh"), process.execPath, scriptFile, address];
}
