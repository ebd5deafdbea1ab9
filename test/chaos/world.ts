// The world of the chaos test: a real remote, a project with thirty tickets, agents that behave badly, and a place where they write down
// what they did, outside of anything that Passrail could lose.

import { execFileSync } from "node:child_process";
import { approveFiles } from "../harness/approve-files.ts";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type World = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly remote: string;
};

/** What becomes of a ticket. */
export const EXPECTED: Readonly<Record<string, string>> = Object.fromEntries([
  ...range(1, 18).map((n) => [`AGI-${n}`, "Done"]),
  ...range(19, 24).map((n) => [`AGI-${n}`, "Done"]),
  // A circle: none of them ever starts.
  ...range(25, 27).map((n) => [`AGI-${n}`, "Backlog"]),
  ["AGI-28", "Blocked"],
  ["AGI-29", "Blocked"],
  ["AGI-30", "Done"],
]);

const PLAN = {
  "AGI-12": "conflicts with AGI-18",
  "AGI-18": "conflicts with AGI-12",
  "AGI-28": "fails",
  "AGI-29": "hangs",
  "AGI-30": "asks",
};

export function createWorld(): World {
  const dir = mkdtempSync(join(tmpdir(), "passrail-chaos-"));
  const [remote, project, home] = [join(dir, "remote.git"), join(dir, "project"), join(dir, "home")];
  mkdirSync(join(dir, "busy"));
  git(dir, "init", "-q", "--bare", "-b", "main", remote);
  git(dir, "clone", "-q", remote, project);
  git(project, "config", "user.name", "owner");
  git(project, "config", "user.email", "owner@localhost");
  git(project, "switch", "-q", "-c", "main");
  for (const number of range(1, 30)) writeTicket(project, number);
  writeFileSync(join(project, "shared.txt"), "nobody was here\n");
  writeFileSync(join(project, "passrail.yaml"), settings(dir));
  mkdirSync(join(project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project, ".passrail", "flows", "ticket.yaml"), impatient());
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "Thirty tickets");
  git(project, "push", "-q", "-u", "origin", "main");
  approveFiles(home, project);
  writeFileSync(join(dir, "plan.json"), JSON.stringify(PLAN));
  return { dir, home, project, remote };
}

/** Three chains, a group of independent variants, a chain of variants, a circle, and three that misbehave. */
function dependenciesOf(number: number): readonly number[] {
  if ([1, 7, 13, 19, 20, 21, 22, 28, 29, 30].includes(number)) return [];
  if (number >= 25 && number <= 27) return [number === 25 ? 27 : number - 1];
  return [number - 1];
}

function groupOf(number: number): string | undefined {
  if (number >= 19 && number <= 21) return "login";
  return number >= 22 && number <= 24 ? "search" : undefined;
}

function writeTicket(project: string, number: number): void {
  const folder = join(project, "feature_requests", `FR-${Math.ceil(number / 6)}`);
  mkdirSync(folder, { recursive: true });
  const group = groupOf(number);
  const lines = [
    "---",
    `id: AGI-${number}`,
    `title: "Piece ${number}"`,
    `description: "Makes piece ${number}."`,
    'repo: "."',
    "status: Backlog # where it stands",
    `dependsOn: [${dependenciesOf(number)
      .map((other) => `AGI-${other}`)
      .join(", ")}]`,
    ...(group === undefined ? [] : [`group: ${group}`, `variantHint: "Variant ${((number - 19) % 3) + 1} of 3"`]),
    // Two tickets go the whole way, the others in one stage: the test is about crashes, not about stages.
    ...(number === 1 || number === 22 ? [] : ["workflow: oneshot"]),
    "owner_note: kept as it is",
    "---",
    "",
    `Body of piece ${number}, with a trailing space `,
    "",
  ];
  writeFileSync(join(folder, `AGI-${number}.md`), lines.join("\n"));
}

function settings(dir: string): string {
  return [
    "slots: 4",
    "workspace: worktree",
    "agents:",
    `  "*": { command: ["${process.execPath}", "${join(import.meta.dirname, "agent.mjs")}", "${dir}"] }`,
    "merge:",
    "  mode: merge",
    "  target: main",
    "tickets:",
    "  idle_sleep: 1s",
    "",
  ].join("\n");
}

/** The shipped flow, with less patience for agents that hang. */
function impatient(): string {
  const shipped = readFileSync(join(import.meta.dirname, "../../flows/ticket.yaml"), "utf8");
  return shipped.replace("defaults:\n", "defaults:\n  limits: { idle: 12s }\n");
}

export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** The lines of a file in which agents write down what they did. */
export function noted(world: World, file: "commits" | "started" | "violations"): readonly string[] {
  const path = join(world.dir, file);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").filter(Boolean) : [];
}

export function ticketText(world: World, id: string): string {
  const number = Number(id.split("-")[1]);
  return readFileSync(join(world.project, "feature_requests", `FR-${Math.ceil(number / 6)}`, `${id}.md`), "utf8");
}

export function statuses(world: World): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(EXPECTED).map((id) => [
      id,
      /^status: "?([^"#\n]*?)"? *(?:#.*)?$/mu.exec(ticketText(world, id))?.[1] ?? "?",
    ]),
  );
}

/** Commits that agents made and that nothing reaches any more. */
export function lostCommits(world: World): readonly string[] {
  const reachable = new Set(
    git(world.project, "rev-list", "--all")
      .split("\n")
      .concat(git(world.remote, "rev-list", "--all").split("\n")),
  );
  return noted(world, "commits").filter((line) => !reachable.has(line.split(" ")[0] ?? ""));
}

export function leftFolders(world: World): readonly string[] {
  const folder = join(world.home, "worktrees");
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : [];
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
