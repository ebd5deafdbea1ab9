// A daemon as its users have it: the real program in its own process, called over its socket.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, openBench, type Started } from "../cli/bench.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { until } from "../../harness/until.ts";

export type Running = Bench & {
  /** Starts it once more after an end; it listens when this resolves. */
  up(...args: readonly string[]): Promise<void>;
  readonly process: Started;
  readonly url: string;
  token: string;
  call(method: string, path: string, options?: Options): Promise<Reply>;
  close(): Promise<void>;
};
export type Options = {
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, never>;
};

export function startDaemon(...args: readonly string[]): Promise<Running> {
  return startDaemonWith({}, ...args);
}

/** With these settings of its project. */
export async function startDaemonWith(settings: JsonObject, ...args: readonly string[]): Promise<Running> {
  const bench = openBench();
  if (Object.keys(settings).length > 0) writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(settings));
  let started: Started | undefined;
  let url = "";
  const running: Running = {
    ...bench,
    get process() {
      if (started === undefined) throw new Error("the daemon was not started");
      return started;
    },
    get url() {
      return url;
    },
    token: "",
    async up(...more) {
      const daemon = bench.start(["up", "--port", "0", ...more]);
      started = daemon;
      let out = "";
      daemon.child.stdout?.on("data", (text: string) => (out += text));
      const gone = daemon.ended.then(({ err }) => {
        throw new Error(`the daemon ended: ${err}`);
      });
      gone.catch(() => undefined);
      const listens = until("the daemon listens", () => /^Passrail is up: (\S+)$/m.exec(out)?.[1], 60_000);
      url = await Promise.race([listens, gone]);
      running.token = readFileSync(join(bench.home, "operator.token"), "utf8").trim();
    },
    async call(method, path, { body, token = running.token, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Record<string, never>,
      };
    },
    async close() {
      started?.child.kill("SIGTERM");
      await started?.ended;
      bench.remove();
    },
  };
  try {
    await running.up(...args);
  } catch (error) {
    bench.remove();
    throw error;
  }
  return running;
}
