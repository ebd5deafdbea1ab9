// The world of the night: a bare remote, a project with forty tickets and flows of its own, and agents that behave as the plan says.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approveFiles } from "../../harness/approve-files.ts";
import { SECRET } from "../../../src/notify/receiver.testsuite.ts";
import { type Night, NIGHT, TICKETS } from "./tickets.ts";

export type World = { readonly dir: string; readonly home: string; readonly project: string; readonly remote: string };

const AGENT = join(import.meta.dirname, "agent.mjs");

/** `port`: where the notices go. */
export function createWorld(port: number): World {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-night-")));
  const [remote, project, home] = [join(dir, "remote.git"), join(dir, "project"), join(dir, "home")];
  git(dir, "init", "-q", "--bare", "-b", "main", remote);
  git(dir, "clone", "-q", remote, project);
  git(project, "config", "user.name", "owner");
  git(project, "config", "user.email", "owner@localhost");
  git(project, "switch", "-q", "-c", "main");
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings(dir)));
  mkdirSync(join(project, ".passrail", "flows"), { recursive: true });
  for (const [name, text] of Object.entries(flows()))
    writeFileSync(join(project, ".passrail", "flows", `${name}.yaml`), text);
  for (const [number, night] of TICKETS.entries()) writeTicket(project, number + 1, night);
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "Forty tickets");
  git(project, "push", "-q", "-u", "origin", "main");
  approveFiles(home, project);
  mkdirSync(join(dir, "release"));
  const program = (name: string): void => {
    writeFileSync(join(dir, name), `#!/bin/sh\nexec "${process.execPath}" "${AGENT}" "${dir}"\n`);
    chmodSync(join(dir, name), 0o755);
  };
  program("validator");
  writeFileSync(join(dir, "secret"), SECRET, { mode: 0o600 });
  mkdirSync(join(dir, "config", "passrail"), { recursive: true });
  const endpoint = {
    name: "test",
    format: "standard",
    url: `http://127.0.0.1:${port}/`,
    secret_file: join(dir, "secret"),
    allow_http: true,
    allow_private: true,
  };
  writeFileSync(
    join(dir, "config", "passrail", "passrail.yaml"),
    JSON.stringify({ notify: { endpoints: [endpoint] } }),
    { mode: 0o600 },
  );
  const plan = Object.fromEntries(TICKETS.map(({ agent }, index) => [`AGI-${index + 1}`, agent ?? "works"]));
  writeFileSync(join(dir, "plan.json"), JSON.stringify(plan));
  setClock({ dir }, NIGHT.begins);
  return { dir, home, project, remote };
}

export function setClock({ dir }: Pick<World, "dir">, at: string): void {
  writeFileSync(join(dir, "clock"), at);
}

function settings(dir: string) {
  const play = [process.execPath, AGENT, dir];
  return {
    slots: 4,
    workspace: "worktree",
    agents: {
      "*": { command: play },
      paid: { runner: "claude", command: play, max_cost: 0.5 },
      validate: { command: [join(dir, "validator")] },
    },
    budgets: { day: { usd: NIGHT.dayUsd } },
    merge: { mode: "merge", target: "main", poll: "1s" },
    tickets: { idle_sleep: "1s", backlog_entry: "oneshot", repos: { gone: "../gone" } },
  };
}

/** The shipped flow, with the one difference that each name tells. */
function flows(): Readonly<Record<string, string>> {
  const shipped = readFileSync(join(import.meta.dirname, "../../../flows/ticket.yaml"), "utf8");
  const own = (name: string, change: (text: string) => string): string => {
    const text = shipped.replace("flow: ticket\n", `flow: ${name}\n`);
    const changed = change(text);
    if (changed === text) throw new Error(`the flow ${name} does not differ`);
    return changed;
  };
  const stage = (name: string) => (text: string) =>
    text
      .replace(/^ {4}- \{ when: "ticket.workflow.*$/mu, `    - { stage: ${name} }`)
      .replace("id: oneshot,", `id: ${name},`);
  return {
    paid: own("paid", stage("paid")),
    quiet: own("quiet", (text) => text.replace("defaults:\n", "defaults:\n  limits: { startup: 4s, idle: 4s }\n")),
    propose: own("propose", (text) => text.replace("merge: land, pr: pr", "merge: pr, pr: pr")),
  };
}

function writeTicket(project: string, number: number, { keys = [], status = "Backlog", flow }: Night): void {
  const folder = join(project, "feature_requests", "FR-1");
  mkdirSync(folder, { recursive: true });
  const has = (key: string): boolean => keys.some((line) => line.startsWith(`${key}:`));
  const lines = [
    `id: AGI-${number}`,
    `title: "Piece ${number}"`,
    `description: "Makes piece ${number}."`,
    ...(has("repo") ? [] : ['repo: "."']),
    `status: ${status}`,
    ...(flow === undefined ? [] : [`flow: ${flow}`]),
    ...keys,
  ];
  writeFileSync(join(folder, `AGI-${number}.md`), `---\n${lines.join("\n")}\n---\n\nPiece ${number}.\n`);
}

export function ticketFile({ project }: Pick<World, "project">, id: string): string {
  return join(project, "feature_requests", "FR-1", `${id}.md`);
}

export function statusOf(world: World, id: string): string {
  return /^status: "?([^"#\n]*?)"?$/mu.exec(readFileSync(ticketFile(world, id), "utf8"))?.[1] ?? "?";
}

export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Lines of a file in which the agents wrote what they did. */
export function noted({ dir }: World, file: "commits" | "started"): readonly string[] {
  try {
    return readFileSync(join(dir, file), "utf8").trim().split("\n");
  } catch {
    return [];
  }
}
