// A server on a real store, to be killed by the test: node idempotency-driver.ts DIR [die]. With `die` it ends itself as a power cut would
// when a request was carried out and its answer is about to be stored.

import { join } from "node:path";
import { err } from "../../../src/core/result.ts";
import { openServer } from "../../../src/http/open-server.ts";
import { openPerformer } from "../../harness/open-performer.ts";

const [dir = "", die = ""] = process.argv.slice(2);
const project = join(dir, "project");
const environment = { ...process.env, XDG_CONFIG_HOME: join(dir, "config") };
const passrail = await openPerformer({
  home: join(dir, "home"),
  project,
  environment,
  flags: {},
  onError: (_, error) => console.error(error),
});
const dying = { ...passrail.store, answerRequest: () => process.kill(process.pid, "SIGKILL") as never };
const server = await openServer(passrail, {
  environment,
  project,
  flags: {},
  version: "0.0.0-test",
  log: (line) => console.error(line),
  demo: async () => err({ code: "demo_failed", message: "no demo" }),
  ...(die === "die" ? { with: { store: dying } } : {}),
});
const { port } = await server.listen({ port: 0 });
console.log(`port ${port}`);
