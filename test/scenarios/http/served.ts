// The server as the daemon opens it, on a real store and a real engine; scripts play the agents. Requests go to the app object, or over a
// socket. Only two collaborators are the test's own: which attempt holds a token, and which commit a branch is at.

import { openUseCases } from "../../../src/app/open-use-cases.ts";
import type { UseCaseOptions, UseCases } from "../../../src/app/use-cases.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { ok } from "../../../src/core/result.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDemo } from "../../../src/demo/start.ts";
import { openServer, type Server } from "../../../src/http/open-server.ts";
import type { App } from "../../../src/http/server/app-env.ts";
import type { Keys } from "../../../src/http/server/keys.ts";
import type { Listening } from "../../../src/http/server/listen.ts";
import type { ServerDeps } from "../../../src/http/server/deps.ts";
import type { AttemptRef } from "../../../src/http/server/principal.ts";
import { playerOf } from "../../harness/player.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

const PORT = 4321;

export type Served = {
  readonly bench: Workbench;
  readonly deps: ServerDeps;
  /** The use cases on this store, with a collaborator of the test. `runners`: who plays the agents instead of the script. */
  readonly useCases: (more: Partial<UseCaseOptions> & { readonly runners?: JsonObject }) => UseCases;
  readonly keys: Keys;
  /** The app that requests go to; a test may replace it. */
  app: App;
  readonly operator: string;
  readonly attempts: Map<string, AttemptRef>;
  /** Problems that the server wrote to its log. */
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
  const scriptIn = (dir: string): string => join(dir, "script.json");
  const settings = (dir: string) => ({ agents: { "*": { command: playerOf(scriptIn(dir)) } } });
  const bench = await openWorkbench({ settings });
  const attempts = new Map<string, AttemptRef>();
  const problems: string[] = [];
  const server = await openServerOn(bench, {
    log: (line) => void problems.push(line),
    attemptOf: (token) => attempts.get(token),
    commitOf: async () => served.commit,
  });
  const operator = readFileSync(server.keys.operatorTokenFile, "utf8").trim();
  const served: Served = {
    bench,
    deps: server.deps,
    useCases: ({ runners, ...more }) =>
      openUseCases(
        { ...bench.passrail, flags: {} },
        {
          commitOf: async () => served.commit,
          async planRun(request) {
            const plan = await server.deps.app.planRun(request);
            if (!plan.ok || runners === undefined) return plan;
            return ok({ ...plan.value, facts: { ...plan.value.facts, runners } });
          },
          ...more,
        },
      ),
    keys: server.keys,
    app: server.appAt(PORT),
    operator,
    attempts,
    problems,
    commit: null,
    play: (lines) => writeFileSync(scriptIn(bench.dir), JSON.stringify(lines)),
    call: (method, path, options = {}) => call(served.app, method, path, { token: operator, ...options }),
    seq: () => bench.passrail.store.lastSeq(),
    listen: () => server.listen({ port: 0 }),
    async close() {
      await server.close();
      await bench.close();
    },
  };
  return served;
}

type Own = Partial<Pick<ServerDeps, "attemptOf" | "commitOf">> & { readonly log?: (line: string) => void };

export function openServerOn({ passrail, project }: Workbench, { log, ...own }: Own = {}): Promise<Server> {
  const { app, home, store } = passrail;
  return openServer(
    { ...passrail, person: "human:tester" },
    {
      environment: passrail.environment,
      project,
      flags: {},
      version: "0.0.0-test",
      log: log ?? (() => undefined),
      demo: (actor) => startDemo({ app, store, home, actor }),
      with: own,
    },
  );
}

async function call(app: App, method: string, path: string, { token, body, headers }: CallOptions): Promise<Reply> {
  const response = await app.request(path, {
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
}
