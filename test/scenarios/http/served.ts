// A real store, a real engine and the app on them; agents are played by scripts. Requests go to the app object, or over a socket.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadCatalog } from "../../../src/catalog/catalog.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { openTicketDesk } from "../../../src/daemon/ticket-desk.ts";
import { err, ok } from "../../../src/core/result.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { createEventHub } from "../../../src/http/server/events/hub.ts";
import { createKeys, type Keys } from "../../../src/http/server/keys.ts";
import { type Listening, listen } from "../../../src/http/server/listen.ts";
import type { App } from "../../../src/http/server/app-env.ts";
import type { AttemptIdentity, ServerParts } from "../../../src/http/server/parts.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { optional } from "../../../src/core/optional.ts";

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");
const PORT = 4321;

export type Served = {
  readonly bench: Workbench;
  readonly parts: ServerParts;
  readonly keys: Keys;
  /** What requests go to; a test may put another one in its place. */
  app: App;
  readonly operator: string;
  readonly attempts: Map<string, AttemptIdentity>;
  /** What went wrong on the server's side. */
  readonly problems: string[];
  /** The commit that decisions are bound to, where a test sets one. */
  commit: string | null;
  play(script: Script): void;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  seq(): Promise<number>;
  listen(): Promise<Listening>;
  close(): Promise<void>;
};

export type CallOptions = {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
export type Reply = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> };

export async function serve(): Promise<Served> {
  const bench = await openWorkbench();
  const { passrail } = bench;
  const now = () => new Date().toISOString();
  const keys = await createKeys(bench.home, { person: "human:tester", now });
  const events = createEventHub({ store: passrail.store, now: () => performance.now() });
  const attempts = new Map<string, AttemptIdentity>();
  const problems: string[] = [];
  const script = join(bench.dir, "script.json");
  const sockets: Listening[] = [];
  const catalog = loadCatalog({ shippedDir });
  const flows: ServerParts["flows"] = {
    list: () => catalog.listFlows().map(({ name, file, origin }) => ({ name, title: name, file, origin })),
    resolve(name) {
      if (!catalog.listFlows().some((flow) => flow.name === name))
        return err({ code: "flow_not_found", message: `There is no flow ${name}.` });
      const resolved = catalog.resolve(name);
      return resolved.ok ? resolved : err({ code: "flow_invalid", message: resolved.error[0]?.message ?? "" });
    },
    source(name) {
      const entry = catalog.listFlows().find((flow) => flow.name === name);
      const text = catalog.flowText(name);
      const checked = catalog.requireFlow(name);
      if (entry === undefined || text === undefined) return undefined;
      return {
        file: entry.file,
        origin: entry.origin,
        text: text.ok ? text.value : null,
        problems: checked.ok ? checked.value.problems : checked.error,
      };
    },
  };
  const tickets = openTicketDesk({
    acting: passrail,
    project: bench.project,
    hub: events,
    log: { file: null, write: (line) => void problems.push(line) },
    resolve: flows.resolve,
    loadConfig: async () => ok(passrail.config),
  });
  const parts: ServerParts = {
    store: passrail.store,
    engine: passrail.engine,
    keys,
    events,
    flows,
    ...optional({ tickets }),
    agents: () =>
      [...catalog.agents().agents.values()].map(({ name, description, model = null, file, origin }) => ({
        name,
        description,
        model,
        file,
        origin,
      })),
    prepare: async ({ input, workspace = "worktree" }) =>
      ok({
        ...input,
        config: { project: bench.project, workspace },
        runners: { "*": [process.execPath, PLAYER, script] },
      }),
    config: passrail.config,
    home: passrail.home,
    version: "0.0.0-test",
    person: "human:tester",
    now,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    newRunId: () => passrail.newRunId(),
    attemptOf: (token) => attempts.get(token),
    commitOf: async (_run: Run) => served.commit,
    onProblem: (text) => problems.push(text),
  };
  const app = createApp(parts, { port: PORT });
  const operator = readFileSync(keys.operatorTokenFile, "utf8").trim();
  const served: Served = {
    bench,
    parts,
    keys,
    app,
    operator,
    attempts,
    problems,
    commit: null,
    play: (lines) => writeFileSync(script, JSON.stringify(lines)),
    async call(method, path, { token = operator, body, headers = {} } = {}) {
      const response = await served.app.request(path, {
        method,
        headers: {
          host: `127.0.0.1:${PORT}`,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (isStream) await response.body?.cancel();
      const text = isStream ? "" : await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      return {
        status: response.status,
        headers: response.headers,
        body: isJson && text !== "" ? (JSON.parse(text) as Record<string, unknown>) : { text },
      };
    },
    seq: () => passrail.store.lastSeq(),
    async listen() {
      const socket = await listen((port) => createApp(parts, { port }), { port: 0 });
      sockets.push(socket);
      return socket;
    },
    async close() {
      tickets?.known.close();
      events.close();
      for (const socket of sockets) await socket.close(0);
      await bench.close();
    },
  };
  return served;
}
