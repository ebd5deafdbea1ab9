// A project with ticket files and scripted agents, for the real program.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Performer } from "../../../src/compose.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { openPerformer } from "../../harness/open-performer.ts";
import { playerOf } from "../../harness/player.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { Run } from "../../../src/core/run/run.ts";
import type { Dispatcher } from "../../../src/ticket/pick/dispatcher.ts";
import { openDispatcher } from "../../../src/ticket/pick/open.ts";
import { type Bench, openBench } from "../cli/bench.ts";

export type Project = Bench & {
  /** Writes FR-1/AGI-n.md; keys are lines of the front matter. */
  ticket(number: number, keys?: Readonly<Record<string, unknown>>, body?: string): string;
  read(number: number): string;
  status(number: number): string;
  key(number: number, name: string): string | undefined;
  /** The script that plays all agents, and settings beside it. */
  settings(script: Readonly<Record<string, unknown>>, more?: Readonly<Record<string, unknown>>): void;
};

export const OK = { via: "text", text: "done" };

export function openProject(): Project {
  const bench = openBench();
  const path = (number: number): string => join(bench.project, "feature_requests", "FR-1", `AGI-${number}.md`);
  const project: Project = {
    ...bench,
    ticket(number, keys = {}, body = `Do number ${number}.\n`) {
      const all = { id: `AGI-${number}`, title: `Ticket ${number}`, repo: "project", status: "Backlog", ...keys };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      mkdirSync(dirname(path(number)), { recursive: true });
      writeFileSync(path(number), `---\n${lines.join("\n")}\n---\n\n${body}`);
      return path(number);
    },
    read: (number) => readFileSync(path(number), "utf8"),
    status: (number) => project.key(number, "status") ?? "",
    key(number, name) {
      const line = project
        .read(number)
        .split("\n")
        .find((each) => each.startsWith(`${name}: `));
      const value = line?.slice(name.length + 2);
      return value?.startsWith('"') === true ? (JSON.parse(value) as string) : value;
    },
    settings(script, more = {}) {
      const file = join(bench.dir, "script.json");
      writeFileSync(file, JSON.stringify(script));
      const agents = { "*": { command: playerOf(file) } };
      writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ agents, ...more }));
      approveFiles(bench.home, bench.project);
    },
  };
  return project;
}

/** Three stages that end by themselves: what landing does is tested elsewhere. */
const SHORT = `flow: short
version: 1
title: Three stages
subject: ticket
enter:
  Backlog: plan
  Needs Plan: plan
  Needs Implement: implement
  Needs Validate: validate
words:
  verdict: {}
  unknown_verdict: pass
  health: { "0": complete }
  unknown_health: failed
  status: { queued: Backlog, completed: Done, stopped: Blocked, canceled: Canceled, question: Needs Human Decision, escalated: Needs Human Review }
workspace: { mode: worktree, branch: "feat/{ticket.group or ticket.id}" }
allow_ungated: true
defaults:
  yield: true
  result: { from: exit-code }
  route: { failed: { goto: stop, status: Blocked } }
stages:
  - { id: plan, agent: worker, prompt_file: agent2-worker-plan, status: { ready: Needs Plan, running: Plan In Progress } }
  - { id: implement, agent: worker, prompt_file: agent2-worker-implement, status: { ready: Needs Implement, running: Implement In Progress } }
  - { id: validate, agent: worker, prompt_file: agent2-worker-validate, status: { ready: Needs Validate, running: Validate In Progress } }
`;

export type Opened = {
  readonly passrail: Performer;
  readonly dispatcher: Dispatcher;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  newestRun(ticket: string): Promise<Run>;
  events(ticket: string): Promise<readonly RunEvent[]>;
  close(): Promise<void>;
};

/** The same in this process, on the short flow. */
export async function openHere(project: Project, { slots = 3, dispatch = true } = {}): Promise<Opened> {
  const errors: string[] = [];
  const lines: string[] = [];
  const passrail = await openPerformer({
    home: project.home,
    project: project.project,
    environment: { PATH: process.env["PATH"], XDG_CONFIG_HOME: join(project.dir, "config") },
    flags: { slots: String(slots) },
    onError: (runId, error) => errors.push(`${runId}: ${error instanceof Error ? error.message : String(error)}`),
    notifier: { notify: async () => true },
  });
  const dispatcher = openDispatcher(passrail, {
    project: project.project,
    log: (line) => lines.push(line),
    isHeld: async () => (await passrail.app.lookAtPause()) !== null,
  });
  if (dispatch) await dispatcher.start();
  const newest = async (ticket: string): Promise<Run> => {
    const [summary] = await passrail.store.runsOf(ticket);
    const run = summary === undefined ? undefined : (await passrail.store.loadRun(summary.id))?.run;
    if (run === undefined) throw new Error(`${ticket} has no run`);
    return run;
  };
  return {
    passrail,
    dispatcher,
    lines,
    errors,
    newestRun: newest,
    async events(ticket) {
      const { id } = await newest(ticket);
      return (await passrail.store.events({ after: 0, runId: id, limit: 1000 })).map(({ event }) => event);
    },
    async close() {
      dispatcher.stop();
      await passrail.close();
    },
  };
}

/** A project on the short flow. */
export function openShort(
  script: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Project {
  const project = openProject();
  mkdirSync(join(project.project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project.project, ".passrail", "flows", "short.yaml"), SHORT);
  project.settings(script, { ...more, tickets: { flow: "short", ...(more["tickets"] as object | undefined) } });
  return project;
}
