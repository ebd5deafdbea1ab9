// A project whose agent is hostile, and the real program called as a person or as that agent would. Nothing is approved behind its back.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { newRepository } from "../../harness/new-repository.ts";
import { openTerminal, type Terminal } from "../../harness/terminal.ts";
import { CLI, type Ended } from "../cli/bench.ts";

export type TrustScene = {
  readonly home: string;
  readonly project: string;
  /** Does not exist unless somebody runs what nobody approved. */
  readonly canary: string;
  readonly git: (...args: readonly string[]) => string;
  readonly write: (path: string, text: string) => void;
  /** Writes the program that plays every agent; it runs in the workspace. */
  readonly agent: (body: string) => readonly string[];
  readonly passrail: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;
  /** The same at a terminal. */
  readonly terminal: (args: readonly string[]) => Terminal;
  readonly remove: () => void;
};

export function openScene(): TrustScene {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-trust-")));
  const [home, project, canary] = [join(dir, "home"), newRepository(dir, "empty"), join(dir, "canary")];
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", project, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
      encoding: "utf8",
    });
  const { PASSRAIL_MARKER: _marker, ...environment } = process.env;
  const env = { ...environment, PASSRAIL_HOME: home, XDG_CONFIG_HOME: join(dir, "config"), HOME: dir };
  return {
    home,
    project,
    canary,
    git,
    write(path, text) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    },
    agent(body) {
      const file = join(dir, "agent.mjs");
      writeFileSync(file, body);
      return [process.execPath, file];
    },
    terminal: (args) => openTerminal([process.execPath, CLI, ...args], { cwd: project, env }),
    passrail(args, more = {}) {
      const child = spawn(process.execPath, [CLI, ...args], {
        cwd: project,
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
      return new Promise((resolve) => child.once("close", (code) => resolve({ code, out, err })));
    },
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
