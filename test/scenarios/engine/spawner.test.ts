// Source 004's spawner: which numbers of an agent's report are kept, and what a program without a terminal prints.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AttemptRow, attemptRow } from "../../../src/core/view/attempt-row.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/stream-json.mjs");
const ESC = "\u001b";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

type Played = {
  readonly row: AttemptRow;
  readonly events: readonly RunEvent[];
  readonly dir: string;
  readonly tty: boolean;
};

/** One stage of a ticket, played by a program that talks as Claude Code does. */
async function play(how: string, timeout: string = "60s"): Promise<Played> {
  const log = join(bench.dir, `${how}.json`);
  const claude = { runner: "claude", command: [process.execPath, AGENT, log, how] };
  const flow = customFlow("ticket", ({ stages, defaults, enter: _enter, ...file }) => ({
    ...file,
    defaults: { ...defaults, timeout },
    stages: stages.filter(({ id }) => id === "research"),
  }));
  const ticket = { id: `AGI-${how}`, status: "Needs Research", repo: "org/app" };
  const facts = { ticket, runners: { "*": claude } };
  // A program that a signal ended is started again after a while, so nothing waits for the run.
  const run = await bench.run(flow, {}, { subject: ticket.id, facts, wait: false });
  const first = await until(
    "the first attempt ends",
    async () => {
      const [record] = await bench.passrail.store.attempts(run.id);
      return record?.endedAt === null ? undefined : record;
    },
    60_000,
  );
  const { tty } = JSON.parse(readFileSync(log, "utf8")) as { tty: boolean };
  const dir = join(bench.home, "runs", run.id, "research-1");
  const ended = (event: RunEvent) => event.type === "stage.finished" || event.type === "stage.postponed";
  await until("the end is recorded", async () => (await bench.events(run.id)).find(ended), 60_000);
  return { row: attemptRow(first, Date.now()), events: await bench.events(run.id), dir, tty };
}

test("R-004-18: cost and time are those of the result event; what it does not say is unknown, not 0", async () => {
  expect((await play("told")).row).toMatchObject({ exitCode: 0, reportedMs: 1234, usage: { usd: 0.25 } });
  const { row } = await play("silent");
  expect(row).toMatchObject({ exitCode: 0, reportedMs: null });
  expect(row.usage?.usd ?? null).toBeNull();
});

test("R-004-18: the exit code is kept; a program that a signal ended has none and has failed", async () => {
  expect((await play("fails")).row).toMatchObject({ exitCode: 3, health: "failed" });
  const { row } = await play("killed");
  expect(row).toMatchObject({ exitCode: null, health: "failed" });
  expect(row.cause).toContain("SIGKILL");
});

test("R-004-18: the output is the raw stream, kept in a file also where it is large", async () => {
  const { dir } = await play("long");
  const lines = readFileSync(join(dir, "output.log"), "utf8").trim().split("\n");
  expect(lines.filter((line) => line.includes('"text":"line '))).toHaveLength(3000);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "result", duration_ms: 1234 });
});

test("R-004-55: an agent has a pipe and no terminal; its events are parsed, and terminal codes reach none of the run's", async () => {
  const { tty, events, dir } = await play("told");
  expect(tty).toBe(false);
  const finished = events.find((event) => event.type === "stage.finished");
  expect(finished).toMatchObject({ outcome: { summary: "finished" } });
  expect(JSON.stringify(events)).not.toContain(JSON.stringify(ESC).slice(1, -1));
  const happened = readFileSync(join(dir, "events.jsonl"), "utf8");
  expect(happened).toContain('"text":"red words"');
  for (const form of [ESC, JSON.stringify(ESC).slice(1, -1)]) expect(happened).not.toContain(form);
});

test("R-004-55: an agent that talked and gives no result within the limit has failed", async () => {
  const { row } = await play("hangs", "2s");
  expect(row).toMatchObject({ health: "failed" });
  expect(row.endedAt).not.toBeNull();
});
