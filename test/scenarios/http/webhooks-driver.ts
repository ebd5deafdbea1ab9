// A process that takes webhooks on a real store, to be killed by the test: node webhooks-driver.ts DIR [die]. With `die` it ends itself as
// a power cut would at the moment when a delivery is about to reach the engine; PASSRAIL_FAILPOINT ends it right after.

import { join } from "node:path";
import { runIdOf } from "../../../src/app/run-id.ts";
import { createUseCases } from "../../../src/app/use-cases.ts";
import { loadCatalog } from "../../../src/catalog/catalog.ts";
import { openPassrail } from "../../../src/compose.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { ok } from "../../../src/core/result.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { createEventHub } from "../../../src/http/server/events/hub.ts";
import { createKeys } from "../../../src/http/server/keys.ts";
import { listen } from "../../../src/http/server/listen.ts";
import type { ServerParts } from "../../../src/http/server/parts.ts";
import { openInbound } from "../../../src/http/webhooks/open.ts";

const [dir = "", die = ""] = process.argv.slice(2);
const home = join(dir, "home");
const project = join(dir, "project");
const now = (): string => new Date().toISOString();
const runners = {
  "*": [process.execPath, join(import.meta.dirname, "../../fixtures/player/play.mjs"), join(dir, "script.json")],
};
const config = { project, workspace: "worktree" };

const opened = await openPassrail({
  home,
  project,
  environment: process.env,
  flags: {},
  onError: (_, error) => console.error(error),
  notifier: { notify: async () => true },
});
if (!opened.ok) throw new Error(opened.error.message);
const { engine, store, config: settings } = opened.value;
const catalog = loadCatalog({ shippedDir });
const resolved = catalog.resolve("feature");
if (!resolved.ok) throw new Error("no flow");
const subject = { id: "F-1", title: "Do F-1", body: "All of it." };
await engine.startRun({
  runId: "r00000000f1",
  resolved: resolved.value,
  subject,
  facts: { config, runners },
  actor: "human:tester",
});

const dying: Pick<typeof engine, "startRun" | "deliver"> = {
  startRun: () => process.kill(process.pid, "SIGKILL") as never,
  deliver: () => process.kill(process.pid, "SIGKILL") as never,
};
const parts: ServerParts = {
  store,
  app: createUseCases({
    engine: die === "die" ? dying : engine,
    store,
    now,
    commitOf: async () => null,
    planRun: async ({ subject: asked, facts, key }) =>
      ok({ runId: runIdOf(key), resolved: resolved.value, subject: asked, facts: { config, runners, ...facts } }),
  }),
  keys: await createKeys(home, { person: "human:tester", now }),
  events: createEventHub({ store, now: () => performance.now() }),
  flows: { list: () => [], resolve: () => ok(resolved.value), source: () => undefined },
  agents: () => [],
  config: settings,
  home,
  version: "0.0.0-test",
  person: "human:tester",
  now,
  newId: () => crypto.randomUUID().replaceAll("-", ""),
  attemptOf: () => undefined,
  commitOf: async () => null,
  onProblem: (text) => console.error(text),
};
const inbound = openInbound({
  config: {
    webhooks: {
      tracker: { kind: "standard", secret_file: join(dir, "secret"), rights: "operator", flow: "feature" },
    },
  },
  environment: {},
  home,
  parts,
  notifier: null,
  onProblem: (text) => console.error(text),
});
const { port } = await listen((given) => createApp(parts, { port: given, signed: inbound.signed }), { port: 0 });
console.log(`port ${port}`);
