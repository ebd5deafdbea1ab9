// A process that takes webhooks on a real store, to be killed by the test: node webhooks-driver.ts DIR [die]. With `die` it ends itself as
// a power cut would at the moment when a delivery is about to reach the engine; PASSRAIL_FAILPOINT ends it right after.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { err } from "../../../src/core/result.ts";
import { openServer } from "../../../src/http/open-server.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { ROOT } from "../../harness/build-once.ts";
import { openPerformer } from "../../harness/open-performer.ts";
import { resolveShipped } from "../../harness/shipped-catalog.ts";

const [dir = "", die = ""] = process.argv.slice(2);
const home = join(dir, "home");
const project = join(dir, "project");
const environment = { ...process.env, XDG_CONFIG_HOME: join(dir, "config") };
const command = [process.execPath, join(ROOT, "test/fixtures/player/play.mjs"), join(dir, "script.json")];
const tracker = { kind: "standard", secret_file: join(dir, "secret"), rights: "operator", flow: "feature" };
mkdirSync(join(dir, "config", "passrail"), { recursive: true });
writeFileSync(
  join(dir, "config", "passrail", "passrail.yaml"),
  JSON.stringify({ agents: { "*": { command } }, webhooks: { tracker } }),
);

const passrail = await openPerformer({
  home,
  project,
  environment,
  flags: {},
  onError: (_, error) => console.error(error),
  notifier: { notify: async () => true },
});
await passrail.engine.startRun({
  runId: "r00000000f1",
  resolved: resolveShipped("feature"),
  subject: { id: "F-1", title: "Do F-1", body: "All of it." },
  facts: { config: { project, workspace: "worktree" }, runners: { "*": command } },
  actor: "human:tester",
});

const dying: Pick<Engine, "startRun" | "deliver" | "liftHold"> = {
  liftHold: () => process.kill(process.pid, "SIGKILL") as never,
  startRun: () => process.kill(process.pid, "SIGKILL") as never,
  deliver: () => process.kill(process.pid, "SIGKILL") as never,
};
const server = await openServer(passrail, {
  environment,
  project,
  flags: {},
  version: "0.0.0-test",
  log: (line) => console.error(line),
  demo: async () => err({ code: "demo_failed", message: "no demo" }),
  ...(die === "die" ? { with: { engine: dying } } : {}),
});
const { port } = await server.listen({ port: 0 });
console.log(`port ${port}`);
