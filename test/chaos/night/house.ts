// The daemon of the night, and the ways to talk to it: its API, and the real program beside it.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { NIGHT_DRIVER, PROGRAM } from "../../harness/program.ts";
import type { World } from "./world.ts";

export type House = {
  /** Starts the daemon; resolves when it listens. */
  up(): Promise<void>;
  /** `SIGKILL`: it dies in the middle of whatever it does. */
  down(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  api<T>(path: string): Promise<T>;
  cli(...words: readonly string[]): Promise<Ran>;
};

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export function openHouse(world: World): House {
  let daemon: { readonly child: ChildProcess; readonly url: string } | undefined;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH,
    NODE_COMPILE_CACHE,
    HOME: world.dir,
    XDG_CONFIG_HOME: join(world.dir, "config"),
    LANG: "C.UTF-8",
  };
  return {
    async up() {
      const errors = openSync(join(world.dir, "errors.log"), "a");
      const child = spawn(process.execPath, [NIGHT_DRIVER, world.dir], { stdio: ["ignore", "pipe", errors], env });
      closeSync(errors);
      const ended = once(child, "exit").then(() =>
        Promise.reject(new Error(`it did not start, see ${world.dir}/errors.log`)),
      );
      ended.catch(() => undefined);
      const [line] = (await Promise.race([once(child.stdout ?? child, "data"), ended])) as [Buffer];
      daemon = { child, url: line.toString().trim() };
    },
    async down(signal) {
      if (daemon === undefined || daemon.child.exitCode !== null || daemon.child.signalCode !== null) return;
      daemon.child.kill(signal);
      await once(daemon.child, "exit");
    },
    async api<T>(path: string) {
      const token = readFileSync(join(world.home, "operator.token"), "utf8").trim();
      const response = await fetch(`${daemon?.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      const body: unknown = await response.json();
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
      return body as T;
    },
    async cli(...words) {
      const args = [PROGRAM, "--home", world.home, "--cwd", world.project, ...words];
      try {
        const ran = await promisify(execFile)(process.execPath, args, { encoding: "utf8", env, maxBuffer: 1 << 26 });
        return { code: 0, ...ran };
      } catch (error) {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, stdout, stderr };
      }
    },
  };
}
