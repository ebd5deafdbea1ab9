// A delivery, a power cut, the sender's next try: whatever was stored by then, the feature is started once.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { SECRET, standard } from "../../../src/http/webhooks/signing.testsuite.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { until } from "../../harness/until.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { WEBHOOKS_DRIVER } from "../../harness/program.ts";

let dir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-hooks-")));
  newRepository(dir);
  writeFileSync(join(dir, "secret"), SECRET, { mode: 0o600 });
  writeFileSync(join(dir, "script.json"), JSON.stringify({ spec: [{ verdict: "REJECT" }] }));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await ended(child);
  }
  rmSync(dir, { recursive: true, force: true });
});

const ended = (child: ChildProcess) =>
  until("the end of the process", () => (child.exitCode ?? child.signalCode) || undefined);

async function startDriver(die: "die" | "live", failpoint = ""): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [WEBHOOKS_DRIVER, dir, die], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...(failpoint === "" ? {} : { PASSRAIL_FAILPOINT: failpoint }) },
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const port = await until(`the port of a process that says: ${output}`, () => {
    const found = /^port ([0-9]+)$/m.exec(output)?.[1];
    if (found === undefined && child.exitCode !== null) throw new Error(output);
    return found === undefined ? undefined : Number(found);
  });
  return { child, port };
}

async function post(port: number, payload: Json): Promise<number | "cut off"> {
  const { headers, rawBody } = standard(JSON.stringify(payload), { id: "msg_crash", atMs: Date.now() });
  try {
    const options = { method: "POST", headers, body: new Uint8Array(rawBody) };
    return (await fetch(`http://127.0.0.1:${port}/hooks/tracker`, options)).status;
  } catch {
    return "cut off";
  }
}

const APPROVE = { type: "feature.approve", data: { feature_id: "F-1" } };
const TICKET = { type: "ticket.create", data: { id: "T-9", title: "Plan", url: "https://tracker.example/9" } };

test.each<[string, Json, "die" | "live", string, number]>([
  ["before the engine heard of the approval", APPROVE, "die", "", 202],
  ["when the approval was stored", APPROVE, "live", "answer-committed", 200],
  ["before the engine heard of the ticket", TICKET, "die", "", 202],
  ["when the ticket was stored", TICKET, "live", "run-committed:2", 200],
])(
  "R-000-25: killed %s, the sender tries again and there is exactly one start",
  async (_, payload, die, failpoint, status) => {
    const first = await startDriver(die, failpoint);
    expect(await post(first.port, payload)).toBe("cut off");
    await ended(first.child);
    const second = await startDriver("live");
    expect(await post(second.port, payload)).toBe(status);
    expect(await post(second.port, payload)).toBe(200);
    const store = openSqliteStore({ file: join(dir, "home", "passrail.db"), readOnly: true });
    const runs = await store.listRuns({ limit: 10 });
    const events = async (type: string) =>
      (await store.events({ after: 0, limit: 500 })).filter(({ event }) => event.type === type).length;
    if (payload === APPROVE) {
      await until("the agent's verdict", async () => ((await events("escalation.opened")) > 0 ? true : undefined));
      expect(await events("gate.answered")).toBe(1);
      expect(await events("stage.finished")).toBe(1);
      expect(runs).toHaveLength(1);
    } else {
      expect(runs.map(({ subject }) => subject.id)).toEqual(["T-9", "F-1"]);
      expect(await events("run.created")).toBe(2);
    }
    store.close();
  },
);
