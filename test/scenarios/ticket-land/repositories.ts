// Real repositories for tests of landing: a bare remote, a project that was cloned from it, a person who works elsewhere.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { newRepository } from "../../harness/new-repository.ts";

export type Repositories = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  /** The bare remote; "" where there is none. */
  readonly bare: string;
  readonly git: (...args: string[]) => string;
  /** In the bare remote, or in the project where there is none. */
  readonly there: (...args: string[]) => string;
  /** A commit on a branch of the project, made without touching its files. */
  readonly commit: (branch: string, files: Readonly<Record<string, string>>, from?: string) => string;
  /** Somebody else commits to a branch of the remote (or of the project where there is none). */
  readonly somebody: (branch: string, files: Readonly<Record<string, string>>) => string;
  /** Hooks that leave a trace, in the project and in what git would read there. */
  readonly plant: () => void;
  /** What the planted programs left. */
  readonly traces: () => readonly string[];
  readonly close: () => void;
};

const WHO = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"];
const HOOKS = [
  "pre-push",
  "post-checkout",
  "pre-commit",
  "post-commit",
  "pre-rebase",
  "post-merge",
  "reference-transaction",
  "post-rewrite",
];

export function newRepositories({ remote }: { readonly remote: boolean }): Repositories {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-landing-")));
  const project = newRepository(dir);
  const bare = remote ? join(dir, "remote.git") : "";
  const home = join(dir, "home");
  const canaries = join(dir, "canaries");
  mkdirSync(canaries);
  mkdirSync(home);
  // The program under test has hooks off by itself; what the test does must not set them off either.
  const run = (cwd: string, args: readonly string[], env: Record<string, string> = {}) =>
    execFileSync("git", [...WHO, "-c", "core.hooksPath=/dev/null", ...args], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", ...env },
    }).trim();
  if (remote) {
    execFileSync("git", ["clone", "-q", "--bare", project, bare], { stdio: "ignore" });
    run(project, ["remote", "add", "origin", bare]);
  }
  const commitIn = (
    repository: string,
    branch: string,
    files: Readonly<Record<string, string>>,
    from: string,
  ): string => {
    const tree = mkdtempSync(join(dir, "tree-"));
    run(repository, ["worktree", "add", "-q", "--detach", tree, from]);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    run(tree, ["add", "-A"]);
    run(tree, ["commit", "-q", "--allow-empty", "-m", `change ${Object.keys(files).join(" ")}`]);
    const made = run(tree, ["rev-parse", "HEAD"]);
    run(repository, ["worktree", "remove", "--force", tree]);
    run(repository, ["update-ref", `refs/heads/${branch}`, made]);
    return made;
  };
  const tip = (repository: string, branch: string): string => {
    try {
      return run(repository, ["rev-parse", "--verify", "-q", `refs/heads/${branch}`]);
    } catch {
      return run(repository, ["rev-parse", "refs/heads/main"]);
    }
  };
  const elsewhere = bare === "" ? project : bare;
  return {
    dir,
    home,
    project,
    bare,
    git: (...args) => run(project, args),
    there: (...args) => run(elsewhere, args),
    commit: (branch, files, from) => commitIn(project, branch, files, from ?? tip(project, branch)),
    somebody: (branch, files) => commitIn(elsewhere, branch, files, tip(elsewhere, branch)),
    plant() {
      const trap = join(dir, "trap.sh");
      writeFileSync(trap, `#!/bin/sh\ntouch "${canaries}/$(basename "$0")-$$"\nexit 0\n`);
      chmodSync(trap, 0o755);
      for (const hook of HOOKS) {
        writeFileSync(join(project, ".git", "hooks", hook), `#!/bin/sh\ntouch "${canaries}/${hook}"\n`);
        chmodSync(join(project, ".git", "hooks", hook), 0o755);
      }
      const set = (key: string, value: string): unknown => run(project, ["config", key, value]);
      set("core.fsmonitor", trap);
      set("core.sshCommand", trap);
      set("credential.helper", `!touch ${canaries}/helper`);
      set("filter.evil.smudge", trap);
      set("filter.evil.clean", trap);
      set("diff.external", trap);
      set("core.pager", trap);
      set("merge.evil.driver", trap);
      writeFileSync(join(project, ".git", "info", "attributes"), "* filter=evil merge=evil\n");
      set(`url.ext::${trap}.insteadOf`, bare === "" ? "/nowhere" : bare);
    },
    traces: () => readdirSync(canaries),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
