// Exactly one function performs each command; a command without one is reported and kept.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolveShipped } from "../../test/harness/workbench.ts";
import type { Command } from "../core/run/command.ts";
import type { Run } from "../core/run/run.ts";
import { transition } from "../core/run/transition.ts";
import type { Notice } from "../notify/notify.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import { createOutbox } from "./outbox.ts";
import { performCommand } from "./perform-command.ts";

/** One of each type. The compiler asks for new ones here, the first test for the others. */
const SAMPLES: { readonly [T in Command["type"]]: Command & { type: T } } = {
  notify: { type: "notify", key: "k", to: "owner", event: "gate", text: "look", item: 1 },
  "release-workspace": { type: "release-workspace" },
  "settle-outward": { type: "settle-outward" },
};
const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
const declared = [...read("../core/run/command.ts").matchAll(/readonly type: "([a-z-]+)"/gu)].map(
  ([, type = ""]) => type,
);

let dir: string;
let store: Store;
let done: string[];
let errors: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-command-"));
  store = openSqliteStore({ file: join(dir, "passrail.db") });
  done = [];
  errors = [];
});
afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true });
});

/** A run with this command in its outbox, and everything that the outbox did with it. */
async function performStored(command: Command): Promise<void> {
  const resolved = resolveShipped("feature");
  await store.saveFlow(resolved);
  const { run, events } = transition(resolved.flow, undefined, {
    type: "run.requested",
    runId: "r1",
    flowHash: resolved.hash,
    subject: { id: "F-1", title: "t", body: "" },
    facts: {},
    id: "s",
    at: "2026-01-01T00:00:00.000Z",
    actor: "human:t",
  });
  await store.commit({ runId: "r1", expectedVersion: 0, signalIds: ["s"], events, run, enqueue: [command] });
  const ports = {
    endOf: async () => "",
    noticeOf: async (run: Run, _item: number, text: string) => `${run.subject.id}: ${text}`,
    notifier: { notify: async ({ text, item }: Notice) => done.push(`notified ${item} ${text}`) > 0 },
    loadRun: async (runId: string) => (await store.loadRun(runId))?.run,
    flowOf: async () => resolved,
    release: async () => void done.push("released"),
    attemptsEnded: async (runId: string) => void done.push(`waited for ${runId}`),
    settleOutward: async ({ id }: Run) => done.push(`settled ${id}`) > 0,
    onReleased: (runId: string) => void done.push(`freed ${runId}`),
  };
  const outbox = createOutbox({
    store,
    perform: (stored) => performCommand(ports, stored),
    onRetry: () => undefined,
    onError: (runId, error) => errors.push(`${runId}: ${String(error)}`),
  });
  await outbox.perform();
  outbox.stop();
}

test("every type of command that is declared has a sample and a case of its own", () => {
  expect(declared.toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
  const cases = [...read("perform-command.ts").matchAll(/case "([a-z-]+)":/gu)].map(([, type = ""]) => type);
  expect(cases.toSorted()).toEqual(declared.toSorted());
});

test.each([
  ["notify", ["notified r1.1 F-1: look"]],
  ["release-workspace", ["waited for r1", "released", "freed r1"]],
  ["settle-outward", ["waited for r1", "settled r1"]],
] as const)("%s is performed once and then gone from the store", async (type, expected) => {
  await performStored(SAMPLES[type]);
  expect(done).toEqual(expected);
  expect(errors).toEqual([]);
  expect(await store.pendingWork()).toEqual([]);
});

test("a command that no function performs is reported and stays in the store", async () => {
  await performStored({ type: "end-attempt" } as unknown as Command);
  expect(done).toEqual([]);
  expect(errors).toEqual(["r1: Error: this version cannot perform the command end-attempt"]);
  expect(await store.pendingWork()).toMatchObject([{ runId: "r1", command: { type: "end-attempt" } }]);
});
