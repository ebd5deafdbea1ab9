// A node and its workers as their users have them: real processes with different state folders, on one machine.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/core/json.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { AttemptRecord } from "../../../src/store/store.ts";
import { openForReading } from "../../harness/open-for-reading.ts";
import { until } from "../../harness/until.ts";
import type { Started } from "../cli/bench.ts";
import { type Running, startDaemonWith } from "../daemon/running.ts";

export type Site = {
  readonly node: Running;
  /** Joins a worker with a key of its own; it has joined when this resolves. */
  join(name: string, how?: JoinOptions): Promise<JoinedWorker>;
  events(): Promise<readonly RunEvent[]>;
  attempts(runId: string): Promise<readonly AttemptRecord[]>;
  /** Waits until an event of this type is stored. */
  seen(type: RunEvent["type"], times?: number): Promise<void>;
  close(): Promise<void>;
};

export type JoinOptions = {
  readonly args?: readonly string[];
  /** Where the worker finds its node; default: at the node's own address. */
  readonly url?: string;
  readonly keyArgs?: readonly string[];
  /** What only the worker's user has: `runners` of their settings. */
  readonly programs?: JsonObject;
};

export type JoinedWorker = Started & {
  readonly home: string;
  readonly tokenFile: string;
  readonly token: string;
};

export async function openSite(settings: JsonObject = {}, ...args: readonly string[]): Promise<Site> {
  const node = await startDaemonWith({ workers: { place: "workers-only", lease: "6s" }, ...settings }, ...args);
  const workers: Started[] = [];

  async function stored<T>(read: (store: NonNullable<ReturnType<typeof openForReading>>) => Promise<T>): Promise<T> {
    const store = openForReading(node.home);
    if (store === undefined) throw new Error("there is no store");
    try {
      return await read(store);
    } finally {
      store.close();
    }
  }

  const events = (): Promise<readonly RunEvent[]> =>
    stored(async (store) => (await store.events({ after: 0, limit: 10_000 })).map(({ event }) => event));

  return {
    node,
    async join(name, { args: more = [], url = node.url, keyArgs = [], programs } = {}) {
      const home = join(node.dir, name);
      const tokenFile = join(node.dir, `${name}.token`);
      if (!existsSync(tokenFile)) {
        const made = await node.passrail(["key", "create", name, "--scope", "worker", ...keyArgs]);
        writeFileSync(tokenFile, made.out, { mode: 0o600 });
      }
      const words = ["worker", "--join", url, "--token-file", tokenFile, "--name", name, ...more];
      const config = join(node.dir, `${name}-config`);
      mkdirSync(join(config, "passrail"), { recursive: true });
      if (programs !== undefined)
        writeFileSync(join(config, "passrail", "passrail.yaml"), JSON.stringify({ runners: programs }));
      const env = { PASSRAIL_HOME: home, ...(programs === undefined ? {} : { XDG_CONFIG_HOME: config }) };
      const worker = node.start(words, { env });
      workers.push(worker);
      const isThere = async (): Promise<true | undefined> => {
        const { body } = await node.call("GET", "/api/workers");
        const found = (body["workers"] as unknown as { name: string }[]).some((each) => each.name === name);
        return found ? true : undefined;
      };
      await until(`${name} has joined: ${worker.err()}`, isThere, 60_000);
      return { ...worker, home: join(home, "worker"), tokenFile, token: readFileSync(tokenFile, "utf8").trim() };
    },
    events,
    attempts: (runId) => stored((store) => store.attempts(runId)),
    async seen(type, times = 1) {
      const isSeen = async () =>
        (await events()).filter((event) => event.type === type).length >= times ? true : undefined;
      await until(`${type} is stored`, isSeen, 90_000);
    },
    async close() {
      for (const { child } of workers) child.kill("SIGKILL");
      await Promise.all(workers.map(({ ended }) => ended));
      await node.passrail(["down", "--stop-agents"]);
      await node.close();
    },
  };
}

/** The only run of the node. */
export async function runIdOf(site: Site): Promise<string> {
  return until(
    "there is a run",
    async () => (await site.events()).flatMap((event) => (event.type === "run.created" ? [event.id] : []))[0],
  );
}

export function lines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
