// A contestant's process, seen from the one that measures.

import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { err, ok, type Result } from "../../src/core/result.ts";
import type { FromChild, ToChild } from "./contestant.ts";

export type Process = {
  /** Milliseconds for this many runs at once, so many times. */
  work(atOnce: number, times: number): Promise<number>;
  close(): Promise<void>;
};

export type Starting = {
  readonly name: string;
  readonly dir: string;
  /** Where it gets a database of its own. */
  readonly server: string;
  /** Of its packages; empty for Passrail. */
  readonly folder: string;
};

const CHILD = join(import.meta.dirname, "child.ts");

export function hasProgram(name: string): boolean {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0;
}

export async function startContestant({ name, dir, server, folder }: Starting): Promise<Result<Process>> {
  mkdirSync(dir, { recursive: true });
  const child = fork(CHILD, [name, dir, await makeDatabase(server, name), folder], {
    // What peers say about themselves is not of interest, what they complain about is.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const answer = await nextFrom(child);
  if (answer.type !== "ready") return err({ code: "not_started", message: `it did not start${whyOf(answer)}` });
  return ok({
    async work(atOnce, times) {
      child.send({ type: "work", atOnce, times } satisfies ToChild);
      const done = await nextFrom(child);
      if (done.type !== "done") throw new Error(`${name} failed${whyOf(done)}`);
      return done.wallMs;
    },
    async close() {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      if (child.exitCode === null && child.connected) child.send({ type: "close" } satisfies ToChild);
      else return;
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  });
}

function nextFrom(child: ChildProcess): Promise<FromChild> {
  return new Promise((resolve) => {
    const ended = (code: number | null): void => resolve({ type: "failed", why: `it ended with ${code}` });
    child.once("exit", ended);
    child.once("message", (said) => {
      child.off("exit", ended);
      resolve(said as FromChild);
    });
  });
}

const whyOf = (said: FromChild): string => (said.type === "failed" ? `: ${said.why}` : "");

async function makeDatabase(server: string, name: string): Promise<string> {
  const database = name.replaceAll("-", "_");
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
