// What Passrail writes into a repository by itself must be what git would have written, or be left to git with nothing written.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, chmod, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit } from "../workspace/workspace.testsuite.ts";
import { moveRef } from "./move-ref.ts";
import { readPlainCommit, writePlainCommit } from "./plain-commit.ts";
import { ASK_GIT } from "./plain-file.ts";

afterEach(removeTempDirs);

const at = (project: string, ...names: string[]): string => join(project, ".git", ...names);
const idOf = (project: string, name: string): string => userGit(project, "rev-parse", name);
const placeOf = (project: string) => ({ gitDir: at(project), commonDir: at(project) });
const by = { name: "Ada", email: "ada@example.org" };

async function project(): Promise<string> {
  return makeRepository(join(await tempDir(), "project"));
}

describe("a commit", () => {
  const when = new Date("2026-03-01T10:00:00Z");

  test.for([
    { message: "AGI-7: build", id: "one line" },
    { message: "Ünïcode ✓\n\nA body.\n", id: "a body and other letters" },
  ])("has the id that git gives it: $id", async ({ message }) => {
    const dir = await project();
    const parents = [idOf(dir, "HEAD")];
    const tree = idOf(dir, "HEAD^{tree}");
    const commit = { tree, parents, by, message, at: when };
    const made = writePlainCommit(at(dir), commit);
    const said = userGit(dir, "cat-file", "commit", String(made));
    const seconds = when.getTime() / 1000;
    expect(said).toContain(`tree ${tree}\nparent ${parents[0]}\nauthor Ada <ada@example.org> ${seconds} `);
    expect(userGit(dir, "show", "-s", "--format=%B", String(made))).toBe(message.trimEnd());
    expect(userGit(dir, "fsck", "--strict", "--no-dangling")).toBe("");
    expect(readPlainCommit(at(dir), String(made))).toEqual({ tree, parents });
    // The same moment and zone, written by git.
    const [, zone = ""] = / \d{10} ([+-]\d{4})\n/u.exec(said) ?? [];
    const dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map((name) => `${name}=${seconds} ${zone}`);
    const args = ["git", "-C", dir, "commit-tree", tree, "-p", parents[0] ?? "", "-m", message];
    expect(execFileSync("env", [...dates, ...args], { encoding: "utf8" }).trim()).toBe(made);
  });

  test("with a name, an address or a message that git would change is left to git", async () => {
    const dir = await project();
    const commit = { tree: idOf(dir, "HEAD^{tree}"), parents: [], by, message: "m", at: when };
    const before = readdirSync(at(dir, "objects"));
    for (const odd of [
      { by: { ...by, name: "Ada <x>" } },
      { by: { ...by, name: " Ada" } },
      { by: { ...by, name: "Ada\nparent" } },
      { by: { ...by, email: "a>b@example.org" } },
      { message: "" },
      { message: "a\0b" },
      { message: "\ud800" },
    ])
      expect(writePlainCommit(at(dir), { ...commit, ...odd })).toBe(ASK_GIT);
    expect(readdirSync(at(dir, "objects"))).toEqual(before);
  });

  test("is not written through a link", async () => {
    const dir = await project();
    await rename(at(dir, "objects"), join(dir, "..", "objects"));
    await symlink(join(dir, "..", "objects"), at(dir, "objects"));
    const commit = { tree: idOf(dir, "HEAD^{tree}"), parents: [], by, message: "m", at: when };
    expect(writePlainCommit(at(dir), commit)).toBe(ASK_GIT);
  });

  test("is read only if its content has its name", async () => {
    const dir = await project();
    const id = idOf(dir, "HEAD");
    expect(readPlainCommit(at(dir), id)).toEqual({ tree: idOf(dir, "HEAD^{tree}"), parents: [] });
    userGit(dir, "commit", "--allow-empty", "-qm", "second");
    const fileOf = (commit: string): string => at(dir, "objects", commit.slice(0, 2), commit.slice(2));
    const second = idOf(dir, "HEAD");
    await chmod(fileOf(id), 0o644);
    await writeFile(fileOf(id), readFileSync(fileOf(second)));
    expect(readPlainCommit(at(dir), id)).toBe(ASK_GIT);
    for (const other of [idOf(dir, "HEAD^{tree}"), "0".repeat(40)])
      expect(readPlainCommit(at(dir), other)).toBe(ASK_GIT);
    await writeFile(join(dir, "..", "long"), "x".repeat(300_000));
    userGit(dir, "commit", "--allow-empty", "-q", "-F", join(dir, "..", "long"));
    expect(readPlainCommit(at(dir), idOf(dir, "HEAD"))).toBe(ASK_GIT);
  });
});

describe("a ref", () => {
  test("moves as git moves it, with the same lines in the reflogs of the branch and of HEAD", async () => {
    const dir = await project();
    const from = idOf(dir, "HEAD");
    const to = String(
      writePlainCommit(at(dir), { tree: idOf(dir, "HEAD^{tree}"), parents: [from], by, message: "m", at: new Date() }),
    );
    expect(await moveRef(placeOf(dir), { name: "refs/heads/main", to, from, by })).toBe("moved");
    userGit(dir, "update-ref", "refs/heads/main", from, to);
    const [ours = "", gits = ""] = userGit(dir, "reflog", "show", "--format=%H %gn %ge", "HEAD")
      .split("\n")
      .toReversed()
      .slice(1);
    expect([ours, gits]).toEqual([`${to} Ada ada@example.org`, `${from} Ada ada@example.org`]);
    for (const log of ["HEAD", "refs/heads/main"]) {
      const lines = readFileSync(at(dir, "logs", log), "utf8")
        .trimEnd()
        .split("\n")
        .slice(-2);
      expect(lines.map((line) => line.replace(/\d{10} [+-]\d{4}$/u, "now"))).toEqual([
        `${from} ${to} Ada <ada@example.org> now`,
        `${to} ${from} Ada <ada@example.org> now`,
      ]);
    }
    expect(userGit(dir, "fsck", "--strict", "--no-dangling")).toBe("");
  });

  test("is created in new folders, from a packed value too, and another branch is not in the log of HEAD", async () => {
    const dir = await project();
    const id = idOf(dir, "HEAD");
    const log = readFileSync(at(dir, "logs", "HEAD"), "utf8");
    const made = { name: "refs/heads/feat/a/b", to: id, from: null, by, why: "branch: Created from here" };
    expect(await moveRef(placeOf(dir), made)).toBe("moved");
    expect(readFileSync(at(dir, "logs", "HEAD"), "utf8")).toBe(log);
    expect(userGit(dir, "reflog", "show", "--format=%gs", "feat/a/b")).toBe("branch: Created from here");
    expect(await moveRef(placeOf(dir), { name: "refs/passrail/keep/r1", to: id, from: null, by })).toBe("moved");
    expect(existsSync(at(dir, "logs", "refs", "passrail"))).toBe(false);
    userGit(dir, "pack-refs", "--all");
    userGit(dir, "commit", "--allow-empty", "-qm", "second");
    const to = idOf(dir, "HEAD");
    expect(await moveRef(placeOf(dir), { name: "refs/heads/feat/a/b", to, from: id, by })).toBe("moved");
    expect(userGit(dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/feat", "refs/passrail")).toBe(
      `refs/heads/feat/a/b ${to}\nrefs/passrail/keep/r1 ${id}`,
    );
  });

  type Odd = {
    readonly name: string;
    readonly ref?: string;
    readonly from?: "HEAD";
    readonly make: (dir: string) => unknown;
  };
  const ODD: readonly Odd[] = [
    { name: "that exists already", ref: "refs/heads/main", make: () => undefined },
    { name: "that has moved since", from: "HEAD", make: (dir) => userGit(dir, "branch", "x", "HEAD~1") },
    { name: "that is gone", from: "HEAD", make: () => undefined },
    { name: "whose lock another process holds", make: (dir) => writeFile(at(dir, "refs", "heads", "x.lock"), "") },
    { name: "whose name is a folder of packed refs", make: packedBelow },
    { name: "whose folder is a packed ref", ref: "refs/heads/x/y", make: packedAbove },
    { name: "whose folder is a ref", ref: "refs/heads/main/y", make: () => undefined },
    { name: "below a folder that is a link", ref: "refs/heads/l/x", make: linkedFolder },
    {
      name: "that is symbolic",
      from: "HEAD",
      make: (dir) => userGit(dir, "symbolic-ref", "refs/heads/x", "refs/heads/main"),
    },
    { name: "with a log that is a link", make: linkedLog },
    {
      name: "in a repository that others share",
      make: (dir) => userGit(dir, "config", "core.sharedRepository", "group"),
    },
    {
      name: "in a repository without reflogs",
      make: (dir) => userGit(dir, "config", "core.logAllRefUpdates", "false"),
    },
    {
      name: "in a repository with includes",
      make: (dir) => appendFile(at(dir, "config"), "[include]\n\tpath = more\n"),
    },
    { name: "with a name that git refuses", ref: "refs/heads/x..y", make: () => undefined },
  ];

  test.for(ODD)("$name is left to git, and nothing has changed", async ({ ref = "refs/heads/x", from, make }) => {
    const dir = await project();
    userGit(dir, "commit", "--allow-empty", "-qm", "second");
    await make(dir);
    const state = (): unknown => [
      userGit(dir, "for-each-ref"),
      readdirSync(at(dir, "refs"), { recursive: true }).filter((name) => /\.lock$|passrail/u.test(String(name))),
      readFileSync(at(dir, "logs", "HEAD"), "utf8"),
    ];
    const before = state();
    const to = idOf(dir, "HEAD");
    const known = from === undefined ? null : to;
    expect(await moveRef(placeOf(dir), { name: ref, to, from: known, by })).toBe(ASK_GIT);
    expect(state()).toEqual(before);
  });

  test("of Passrail's own moves over a lock that a killed process left, and not over a fresh one", async () => {
    const dir = await project();
    const move = { name: "refs/passrail/keep/r1", to: idOf(dir, "HEAD"), from: null, by };
    const lock = at(dir, `${move.name}.lock`);
    await mkdir(dirname(lock), { recursive: true });
    await writeFile(lock, "");
    expect(await moveRef(placeOf(dir), move)).toBe(ASK_GIT);
    const old = new Date(Date.now() - 60_000);
    await utimes(lock, old, old);
    expect(await moveRef(placeOf(dir), move)).toBe("moved");
    expect(existsSync(lock)).toBe(false);
  });
});

async function packedBelow(dir: string): Promise<void> {
  userGit(dir, "branch", "x/y");
  userGit(dir, "pack-refs", "--all");
  await rm(at(dir, "refs", "heads", "x"), { recursive: true, force: true });
}

function packedAbove(dir: string): void {
  userGit(dir, "branch", "x");
  userGit(dir, "pack-refs", "--all");
}

async function linkedFolder(dir: string): Promise<void> {
  await mkdir(join(dir, "..", "elsewhere"));
  await symlink(join(dir, "..", "elsewhere"), at(dir, "refs", "heads", "l"));
}

async function linkedLog(dir: string): Promise<void> {
  await writeFile(join(dir, "..", "victim"), "");
  await symlink(join(dir, "..", "victim"), at(dir, "logs", "refs", "heads", "x"));
}
