// Starts a story whose analyst does not end by itself, delivers its verdict from outside, and dies at the fail-point right after.
// Arguments: home, project, the player's script, the file in which the player says that it has begun.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../harness/build-once.ts";
import { openPerformer } from "../../harness/open-performer.ts";
import { until } from "../../harness/until.ts";
import { resolveShipped } from "../../harness/shipped-catalog.ts";

const [home = "", project = "", script = "", trace = ""] = process.argv.slice(2);
const player = join(ROOT, "test/fixtures/player/play.mjs");
const { engine } = await openPerformer({
  home,
  project,
  environment: process.env,
  flags: {},
  onError: () => {},
  notifier: { notify: async () => true },
});
const runId = "r-crashed";
await engine.startRun({
  runId,
  resolved: resolveShipped("story"),
  subject: { id: "v0.1:9", title: "t", body: "" },
  facts: { config: { project, workspace: "worktree" }, runners: { "*": [process.execPath, player, script] } },
  actor: "human:tester",
});
await until("the analyst works", () => (existsSync(trace) ? true : undefined));
const report = { verdict: "approved", structured: true } as const;
await engine.deliver(runId, { type: "attempt.finished", stage: "analyst", attempt: 1, report }, "agent:analyst");
