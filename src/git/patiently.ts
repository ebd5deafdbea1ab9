// Repeats a git call in a repository in which others work at the same time. While a work tree is being registered there, git takes its
// unfinished HEAD for a missing object; while one is being removed, git misses its folder; while git packs objects in the background, a clone
// misses loose ones that it has just listed; a ref may be locked. All of this passes, and says nothing about the work.

import { setTimeout as sleep } from "node:timers/promises";
import { err, ok, type Result } from "../core/result.ts";

const PASSING =
  /bad object worktrees\/|Invalid path '[^']{1,1000}\/worktrees\/|cannot lock ref|failed to copy file to '[^']{1,1000}': No such file|Unable to create '[^']{1,1000}\.lock'/u;
const TRIES = 8;
const FIRST_PAUSE_MS = 25;

export async function patiently(call: () => Promise<Result<unknown>>): Promise<Result<null>> {
  for (let tries = 1, pauseMs = FIRST_PAUSE_MS; ; tries++, pauseMs *= 2) {
    const done = await call();
    if (done.ok) return ok(null);
    if (!PASSING.test(done.error.message)) return done;
    if (tries === TRIES)
      return err({ code: "repository_busy", message: `The repository is in use: ${done.error.message}` });
    await sleep(pauseMs);
  }
}
