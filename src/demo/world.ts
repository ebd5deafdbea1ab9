// The demo's temporary folder, with a small repository and a state folder. The demo removes it at the end.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approveProject, lookAtTrust } from "../app/trust/trust.ts";
import { shippedDir } from "../settings/site.ts";
import type { Flow } from "../core/flow/flow.ts";
import { messageOf } from "../core/result.ts";

export type World = {
  readonly project: string;
  readonly home: string;
  /** The caller's environment without Passrail settings, so that every demo is the same. */
  readonly environmentFrom: (environment: Environment) => Environment;
  readonly git: (args: readonly string[]) => string;
  /** Removes everything; safe to repeat. */
  readonly remove: () => void;
};

type Environment = Readonly<Record<string, string | undefined>>;

const SOURCE = join(shippedDir, "demo");

export function makeWorld(): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "passrail-demo-")));
  const [home, project] = [join(root, "state"), join(root, "project")];
  const git = (args: readonly string[]): string => runGit(project, args);
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    cpSync(join(SOURCE, "project"), project, { recursive: true });
    cpSync(join(SOURCE, "agents"), join(project, ".passrail", "agents"), { recursive: true });
    cpSync(join(SOURCE, "flow.yaml"), join(project, ".passrail", "flows", "demo.yaml"));
    mkdirSync(join(root, "settings"));
    makeRepository(git);
    approveOwn({ home, project });
  } catch (error) {
    remove();
    throw error;
  }
  return {
    project,
    home,
    environmentFrom: (environment) => ({
      ...Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("PASSRAIL_"))),
      XDG_CONFIG_HOME: join(root, "settings"),
    }),
    git,
    remove,
  };
}

/** The demo's flow and agents are Passrail's own. */
function approveOwn(place: Pick<World, "home" | "project">): void {
  const found = lookAtTrust(place);
  const approved = found.ok
    ? approveProject(place, { hash: found.value.hash, by: "system", now: new Date().toISOString() })
    : found;
  if (!approved.ok) throw new Error(approved.error.message);
}

/** Each stage's program and its pace, as runner facts like those of `--agent`. */
export function commandsOf(flow: Flow, thinkMs: number): Record<string, readonly string[]> {
  const works = flow.stages.filter((stage) => stage.kind === "agent");
  const program = (stage: string): string => join(SOURCE, "programs", `${stage}.mjs`);
  return Object.fromEntries(works.map(({ id }) => [id, [process.execPath, program(id), String(Math.round(thinkMs))]]));
}

/** Creates the demo's small repository at this path. */
export function fillProject(project: string): void {
  mkdirSync(project, { recursive: true, mode: 0o700 });
  cpSync(join(SOURCE, "project"), project, { recursive: true });
  makeRepository((args) => runGit(project, args));
}

function makeRepository(git: World["git"]): void {
  git(["init", "--quiet", "--template=", "--initial-branch=main"]);
  // Keeps the user's hooks, signing key and name out of it.
  const settings = {
    "user.name": "Demo",
    "user.email": "demo@example.invalid",
    "commit.gpgsign": "false",
    "core.hooksPath": "/dev/null",
  };
  for (const [name, value] of Object.entries(settings)) git(["config", name, value]);
  git(["add", "--all"]);
  git(["commit", "--quiet", "--message", "chore: the titles library"]);
}

function runGit(cwd: string, args: readonly string[]): string {
  try {
    return execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: withoutGit(process.env),
    });
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const message = isMissing ? "git was not found" : `git ${args[0]} failed: ${messageOf(cause)}`;
    const hint = isMissing ? "install git 2.30 or newer, then: passrail demo" : "";
    throw Object.assign(new Error(message, { cause }), { code: isMissing ? "git_not_found" : "git_failed", hint });
  }
}

/** Variables such as GIT_DIR would lead to another repository. */
function withoutGit(environment: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_")));
}
