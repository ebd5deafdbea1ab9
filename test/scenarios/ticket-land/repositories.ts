// Real repositories for tests of landing: a bare remote, a project that was cloned from it, a person who works elsewhere.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configure, newRemote, newRepository } from "../../harness/new-repository.ts";

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
  const run = (cwd: string, args: readonly string[], input = "") =>
    execFileSync("git", [...WHO, "-c", "core.hooksPath=/dev/null", ...args], {
      cwd,
      encoding: "utf8",
      input,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
    }).trim();
  if (remote) newRemote(project, bare);
  const commitIn = (repository: string, branch: string, files: Readonly<Record<string, string>>, from: string) =>
    run(repository, IMPORT, commitStream(branch, files, from));
  const tip = (repository: string, branch: string): string => {
    const refs = run(repository, ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]).split("\n");
    const of = (name: string) => refs.find((line) => line.startsWith(`refs/heads/${name} `))?.split(" ")[1];
    return of(branch) ?? of("main") ?? "";
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
      const set = (section: string, values: Record<string, string>) =>
        configure(join(project, ".git"), section, values);
      set("core", { fsmonitor: trap, sshCommand: trap, pager: trap });
      set("credential", { helper: `!touch ${canaries}/helper` });
      set('filter "evil"', { smudge: trap, clean: trap });
      set("diff", { external: trap });
      set('merge "evil"', { driver: trap });
      set(`url "ext::${trap}"`, { insteadOf: bare === "" ? "/nowhere" : bare });
      writeFileSync(join(project, ".git", "info", "attributes"), "* filter=evil merge=evil\n");
    },
    traces: () => readdirSync(canaries),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** One process makes a whole commit and names it. */
const IMPORT = ["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force", "--date-format=now"];

function commitStream(branch: string, files: Readonly<Record<string, string>>, from: string): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;
  return [
    `commit refs/heads/${branch}`,
    "mark :1",
    "committer t <t@localhost> now",
    data(`change ${Object.keys(files).join(" ")}\n`),
    `from ${from}`,
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
    "",
    "get-mark :1",
    "",
  ].join("\n");
}
