// A project with ticket files and scripted agents, for the real program.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bench, openBench } from "../e2e/bench.ts";

const PLAYER = join(import.meta.dirname, "../fixtures/player/play.mjs");

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
      const agents = { "*": { command: [process.execPath, PLAYER, file] } };
      writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ agents, ...more }));
    },
  };
  return project;
}
