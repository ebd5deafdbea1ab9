// Thirty tickets, four slots, agents that fail, hang, ask and conflict, a real remote, and a process that is killed ten times on the way.
// Afterwards everything is where it must be, and every commit that any agent made can still be reached.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createWorld,
  EXPECTED,
  git,
  leftFolders,
  lostCommits,
  noted,
  statuses,
  ticketText,
  type World,
} from "./world.ts";
import { PROGRAM } from "../harness/program.ts";

const KILLS = 10;

let world: World;
beforeAll(() => {
  world = createWorld();
});
afterAll(() => {
  // PASSRAIL_CHAOS_KEEP=1 leaves everything to be looked at.
  if (process.env["PASSRAIL_CHAOS_KEEP"] === "1") console.log(world.dir);
  else rmSync(world.dir, { recursive: true, force: true });
});

test("R-004-40, R-004-54, R-004-61: thirty tickets end where they must, through ten crashes, and no commit is lost", async () => {
  let killed = 0;
  for (let life = 0; killed < KILLS && life < 2 * KILLS; life++) {
    const working = life % 2 === 0 ? work("up", "--work", "--port", "0") : work("work", "--once");
    const before = noted(world, "started").length;
    // Not by the clock: the next crash comes when more has begun, so that every life gets something done.
    await until(() => noted(world, "started").length >= before + 2 + (life % 3) || working.exitCode !== null, 60_000);
    await answerQuestions();
    working.kill("SIGKILL");
    await ended(working);
    if (working.signalCode === "SIGKILL") killed++;
  }
  expect(killed).toBe(KILLS);
  for (;;) {
    const working = work("work", "--once");
    await ended(working);
    // The tickets of the circle cannot start, whatever becomes of the others.
    expect(working.exitCode).toBe(1);
    if (!(await answerQuestions())) break;
  }

  const found = statuses(world);
  const contested = [found["AGI-12"] ?? "", found["AGI-18"] ?? ""].toSorted((one, other) => one.localeCompare(other));
  expect(contested).toEqual(["Done", "Needs Human Review"]);
  expect({ ...found, "AGI-12": "Done", "AGI-18": "Done" }).toEqual(EXPECTED);
  expect(noted(world, "violations")).toEqual([]);
  expect(lostCommits(world)).toEqual([]);
  expect(leftFolders(world)).toEqual([]);
  expect(passrail("verify").trim()).not.toBe("");

  // What is Done is in the target, by name and by content.
  git(world.project, "fetch", "-q", "origin");
  const landed = git(world.project, "ls-tree", "-r", "--name-only", "origin/main").split("\n");
  for (const [id, status] of Object.entries(found)) {
    expect([id, landed.includes(`work/${id}.txt`)]).toEqual([id, status === "Done"]);
  }
  const loser = found["AGI-12"] === "Done" ? "AGI-18" : "AGI-12";
  expect(git(world.project, "show", "origin/main:shared.txt")).not.toContain(loser);
  expect(passrail("runs", "show", runOf(loser))).toContain("shared.txt");

  // What a person wrote beside our keys is as it was.
  for (const id of Object.keys(EXPECTED)) {
    const text = ticketText(world, id);
    expect(text).toContain("# where it stands");
    expect(text).toContain("owner_note: kept as it is");
    expect(text).toMatch(/\nBody of piece \d+, with a trailing space \n$/u);
  }
  for (const id of ["AGI-25", "AGI-26", "AGI-27"]) {
    expect(noted(world, "started").filter((line) => line.startsWith(`${id} `))).toEqual([]);
    expect(passrail("explain", id)).toMatch(/AGI-25.*AGI-2[67].*AGI-2[67]/su);
  }
}, 600_000);

function work(...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...place(), ...words], {
    stdio: ["ignore", openSync(join(world.dir, "work.log"), "a"), openSync(join(world.dir, "errors.log"), "a")],
    env: environment(),
  });
}

/** Whether there was one. */
async function answerQuestions(): Promise<boolean> {
  const items = JSON.parse(passrail("inbox", "--json")) as {
    items: { id: string; ticket?: string; kind: string; subject?: { id: string } }[];
  };
  const open = items.items.filter((item) => item.subject?.id === "AGI-30");
  for (const { id } of open) passrail("ask", "answer", id, "BLUE");
  return open.length > 0;
}

function runOf(ticket: string): string {
  return /^run: (\d+)/mu.exec(ticketText(world, ticket))?.[1] ?? "";
}

function passrail(...words: readonly string[]): string {
  return execFileSync(process.execPath, [PROGRAM, ...place(), ...words], { encoding: "utf8", env: environment() });
}

function place(): readonly string[] {
  return ["--home", world.home, "--cwd", world.project];
}

function environment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, HOME: world.dir, XDG_CONFIG_HOME: join(world.dir, "config"), LANG: "C.UTF-8" };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

async function until(holds: () => boolean, ms: number): Promise<void> {
  for (const deadline = Date.now() + ms; !holds() && Date.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, 20));
}
