// A whole program around the engine, to be killed from outside: driver FOLDER SCENARIO. It starts the scenario's runs unless
// they are there, answers whatever waits for a person, works until everything rests, and writes down what it was told is durable.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/build-once.ts";
import { openIdle } from "../harness/open-performer.ts";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import type { RunEvent } from "../../src/core/run/event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type InboxItem, openItems, type Run } from "../../src/core/run/run.ts";
import { eventMark } from "./event-mark.ts";
import { FLOW_FILE, type RunPlan, SCENARIOS } from "./scenarios.ts";

const PLAYER = join(ROOT, "test/fixtures/player/play.sh");

const [dir = "", name = ""] = process.argv.slice(2);
const scenario = SCENARIOS[name];
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
const project = join(dir, "project");

say("begun");
const answering = new Set<Promise<unknown>>();
const said = new Set<string>();
const passrail = await openIdle({
  home: join(dir, "home"),
  project,
  environment: process.env,
  flags: { slots: String(scenario.slots) },
  onError: (runId, error) =>
    appendFileSync(join(dir, "errors"), `${runId}: ${error instanceof Error ? error.stack : String(error)}\n`),
  notifier: {
    notify: async ({ runId, event, item }) => {
      appendFileSync(join(dir, "notices"), `${runId} ${event} ${item}\n`);
      return true;
    },
  },
});
passrail.listen({
  onChange(run, events) {
    acknowledge(run, events);
    if (events.some(({ type }) => type === "stage.started")) sayOnce("working");
    answerAll(run);
  },
});
await passrail.perform();
say("ready");
await Promise.all(scenario.runs.map(startRun));
await untilSettled();
await passrail.close();
say("settled");

async function startRun({ runId, workspace, facts }: RunPlan): Promise<void> {
  const folder = join(dir, "script", runId);
  const delivery = await passrail.engine.startRun({
    runId,
    resolved: JSON.parse(readFileSync(join(folder, FLOW_FILE), "utf8")) as ResolvedFlow,
    subject: { id: `F-${runId}`, title: `Do ${runId}`, body: "All of it." },
    facts: {
      ...facts,
      config: { ...(facts["config"] as JsonObject | undefined), project, workspace },
      runners: { "*": ["/bin/sh", PLAYER, folder] },
    },
    actor: "human:driver",
  });
  // What waits since before the last crash is answered now; what begins to wait later, when it does.
  answerAll(delivery.run);
}

function answerAll(run: Run): void {
  for (const item of openItems(run)) {
    const { number, kind } = item;
    const body = { type: "item.answered" as const, number, kind, answer: answerTo(item), text: "go on" };
    const answer = passrail.engine.deliver(run.id, body, "human:driver", `answer:${number}`);
    const settled = answer.catch((error: unknown) =>
      appendFileSync(join(dir, "errors"), `${run.id}: answer: ${String(error)}\n`),
    );
    answering.add(settled);
    void settled.then(() => answering.delete(settled));
  }
}

function answerTo(item: InboxItem): string {
  switch (item.kind) {
    case "gate":
      return "approve";
    case "escalation":
      return "accept";
    case "choice":
      return Object.keys(item.choices)[0] ?? "";
    case "question":
      return "";
    case "budget":
      return "raise";
  }
}

async function untilSettled(): Promise<void> {
  do {
    await Promise.all(answering);
    await passrail.engine.idle();
  } while (answering.size > 0);
}

/** One line per stored change; the file system keeps it when this process is killed. */
function acknowledge(run: Run, events: readonly RunEvent[]): void {
  appendFileSync(join(dir, "acknowledged"), `${run.id} ${events.map(eventMark).join(" ")}\n`);
}

function sayOnce(word: string): void {
  if (said.has(word)) return;
  said.add(word);
  say(word);
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}
