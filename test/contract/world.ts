// What the journeys with a real agent CLI share: a state folder, a project whose settings name the CLI, the scripted models, and the whole
// program as processes that can be killed.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { RunEvent } from "../../src/core/run/event.ts";
import type { AttemptRecord } from "../../src/store/store.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { newRepository } from "../harness/new-repository.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { programOf, settingsFor, type Vendor } from "./vendors.ts";

export type Started = ChildProcessByStdio<null, Readable, Readable>;

export type World = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly models: FakeModels;
  /** Lets this CLI play every agent; the result is what it finds in its environment. */
  readonly playedBy: (vendor: Vendor, further?: object) => Readonly<Record<string, string>>;
  /** Starts the program. */
  readonly passrail: (...args: readonly string[]) => Started;
  /** Starts a run with the builder alone. */
  readonly build: (...args: readonly string[]) => Started;
  /** Starts a daemon that has adopted what works; `program`: of another build. */
  readonly up: (program?: string) => Promise<Started>;
  /** When a file in the world's folder is there. */
  readonly there: (name: string) => Promise<true>;
  /** When the agent has written this file in its worktree. */
  readonly written: (name: string) => Promise<true>;
  readonly events: () => Promise<readonly RunEvent[]>;
  /** All events, when the first stage has ended. */
  readonly finished: () => Promise<readonly RunEvent[]>;
  /** The attempts of the only run. */
  readonly attempts: () => Promise<readonly AttemptRecord[]>;
  readonly close: () => Promise<void>;
};

const PATIENCE_MS = 120_000;

export async function openWorld(name: string): Promise<World> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `passrail-${name}-`)));
  const home = join(dir, "state");
  mkdirSync(home);
  const project = newRepository(dir);
  const models = await startFakeModels({ scenario: { rules: [] } });
  const env = { ...process.env, PASSRAIL_HOME: home };
  const start = (program: string, args: readonly string[]): Started =>
    spawn(process.execPath, [program, ...args], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const passrail = (...args: readonly string[]): Started => start(PROGRAM, args);
  const isThere = (path: string): true | undefined => (existsSync(path) ? true : undefined);
  const events = async (): Promise<readonly RunEvent[]> => {
    const store = openForReading(home);
    const found = (await store?.events({ after: 0, limit: 1000 }))?.map(({ event }) => event) ?? [];
    store?.close();
    return found;
  };
  return {
    dir,
    home,
    project,
    models,
    playedBy(vendor, further = {}) {
      const settings = { ...settingsFor(vendor, dir, models.url), ...further };
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(home, project);
      return programOf(vendor, dir, models.url).env;
    },
    passrail,
    build: (...args) => passrail("run", "routed", "Build it", "--input", "input.agent=builder", ...args),
    async up(program = PROGRAM) {
      const daemon = start(program, ["up", "--port", "0"]);
      // It writes its address when it has adopted the agents; one that was killed has left its own.
      await until("the daemon is up", () => isNoted(home, daemon.pid), PATIENCE_MS);
      return daemon;
    },
    there: (file) => until(`${file} is there`, () => isThere(join(dir, file)), PATIENCE_MS),
    written: (file) =>
      until(`the agent has written ${file}`, () => writtenBelow(join(home, "worktrees"), file), PATIENCE_MS),
    events,
    finished: () =>
      until(
        "the stage ends",
        async () => {
          const all = await events();
          return all.some(({ type }) => type === "stage.finished") ? all : undefined;
        },
        PATIENCE_MS,
      ),
    async attempts() {
      const store = openForReading(home);
      const found = (await store?.attempts((await store.listRuns({ limit: 1 }))[0]?.id ?? "")) ?? [];
      store?.close();
      return found;
    },
    async close() {
      await models.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function isNoted(home: string, pid: number | undefined): true | undefined {
  const note = join(home, "daemon.json");
  const noted = existsSync(note) ? (JSON.parse(readFileSync(note, "utf8")) as { readonly pid?: number }) : {};
  return noted.pid === pid ? true : undefined;
}

function writtenBelow(root: string, name: string): true | undefined {
  const folders = existsSync(root) ? readdirSync(root) : [];
  return folders.some((folder) => existsSync(join(root, folder, name))) ? true : undefined;
}

/** What the process prints, if it ends well. */
export async function output(child: Started): Promise<string> {
  let [out, err] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (out += String(bytes)));
  child.stderr.on("data", (bytes: Buffer) => (err += String(bytes)));
  const code = await ended(child);
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  return out;
}

export function ended(child: Started): Promise<number | null> {
  child.stdout.resume();
  child.stderr.resume();
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => void child.once("exit", resolve));
}

export async function stopped(child: Started): Promise<void> {
  child.kill("SIGTERM");
  await ended(child);
}
