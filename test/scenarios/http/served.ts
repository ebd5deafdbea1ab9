// A real store, a real engine and the app on them; agents are played by scripts. Requests go to the app object, or over a socket.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/core/json.ts";
import { resolveFlow } from "../../../src/app/start-run/resolve-flow.ts";
import { runIdOf } from "../../../src/app/run-id.ts";
import { createUseCases, type UseCaseOptions, type UseCases } from "../../../src/app/use-cases.ts";
import { loadCatalog } from "../../../src/catalog/catalog.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { openTicketDesk } from "../../../src/daemon/ticket-desk.ts";
import { ok } from "../../../src/core/result.ts";
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
  /** The use cases on this store, with something of the test's own. `runners`: who plays the agents instead of the script. */
  readonly useCases: (more: Partial<UseCaseOptions> & { readonly runners?: JsonObject }) => UseCases;
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
    resolve: (name) => resolveFlow(bench.project, name),
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
  const useCases: Served["useCases"] = ({ runners, ...more }) =>
    createUseCases({
      engine: passrail.engine,
      store: passrail.store,
      now,
      commitOf: async () => served.commit,
      async planRun({ flow, subject, input, workspace = "worktree", facts, key }) {
        const resolved = flows.resolve(flow);
        if (!resolved.ok) return resolved;
        const config = { project: bench.project, workspace };
        const played = runners ?? { "*": [process.execPath, PLAYER, script] };
        const all = { ...Object.fromEntries(input), ...facts, config, runners: played };
        return ok({ runId: runIdOf(key), resolved: resolved.value, subject, facts: all });
      },
      ...more,
    });
  const parts: ServerParts = {
    store: passrail.store,
    app: useCases({}),
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
    config: passrail.config,
    home: passrail.home,
    version: "0.0.0-test",
    person: "human:tester",
    now,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    attemptOf: (token) => attempts.get(token),
    commitOf: async () => served.commit,
    onProblem: (text) => problems.push(text),
  };
  const app = createApp(parts, { port: PORT });
  const operator = readFileSync(keys.operatorTokenFile, "utf8").trim();
  const served: Served = {
    bench,
    parts,
    useCases,
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
