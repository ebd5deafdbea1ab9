// A request is carried out, the power fails before its answer is stored, the caller repeats it at the next server: one effect.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { IDEMPOTENCY_DRIVER } from "../../harness/program.ts";

let dir: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-keys-")));
  writeFileSync(join(newRepository(dir), "passrail.yaml"), 'agents: { "*": { runner: outside } }\n');
});
afterEach(async () => {
  await kill();
  rmSync(dir, { recursive: true, force: true });
});

async function kill(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function start(die: "die" | "live"): Promise<number> {
  await kill();
  const started = spawn(process.execPath, [IDEMPOTENCY_DRIVER, dir, die], { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) {
    const port = /^port ([0-9]+)$/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("the server did not start");
}

type Sent = { readonly status: number; readonly body: Record<string, unknown> };

async function post(port: number, path: string, body: object, more = {}): Promise<Sent | "cut off"> {
  const token = readFileSync(join(dir, "home", "operator.token"), "utf8").trim();
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": path,
    ...more,
  };
  try {
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return "cut off";
  }
}

/** Carried out by a server that dies of it, then repeated at the next one, twice. */
async function acrossCrash(path: string, body: object, more = {}): Promise<readonly (Sent | "cut off")[]> {
  expect(await post(await start("die"), path, body, more)).toBe("cut off");
  const port = await start("live");
  return [await post(port, path, body, more), await post(port, path, body, more)];
}

test("R-X-12: killed between act and answer, a start and a gate's answer repeated after a restart have one effect", {
  timeout: 180_000,
}, async () => {
  const started = await acrossCrash("/api/runs", { flow: "feature", title: "Once" });
  expect(started).toMatchObject([{ status: 201 }, { status: 201 }]);
  const [first, second] = started as Sent[];
  expect(second?.body).toEqual(first?.body);
  const id = (first?.body["run"] as { id: string } | undefined)?.id ?? "";
  const answer = await acrossCrash(`/api/inbox/${id}.1/answer`, { answer: "approve" }, { "if-match": "*" });
  expect(answer).toMatchObject([{ status: 200 }, { status: 200 }]);
  await kill();
  const store = openSqliteStore({ file: join(dir, "home", "passrail.db"), readOnly: true });
  const types = (await store.events({ after: 0, limit: 500 })).map(({ event }) => event.type);
  store.close();
  expect(types.filter((type) => type === "run.created")).toHaveLength(1);
  expect(types.filter((type) => type === "gate.answered")).toHaveLength(1);
});

test("R-X-12: killed between act and answer, a key is not made a second time and no token is stored", {
  timeout: 180_000,
}, async () => {
  const repeated = await acrossCrash("/api/keys", { name: "ci", kind: "viewer" });
  const refused = { status: 409, body: { code: "idempotency_key_spent" } };
  expect(repeated).toMatchObject([refused, refused]);
  const { keys } = JSON.parse(readFileSync(join(dir, "home", "keys.json"), "utf8")) as { keys: unknown[] };
  expect(keys).toHaveLength(1);
});
