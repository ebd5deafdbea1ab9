import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeRepository, tempDir, userGit, valueOf } from "./workspace.testsuite.ts";
import { createWorktreeWorkspaces } from "./worktree.ts";

async function bench(state?: string) {
  const dir = await tempDir();
  const root = join(state ?? join(dir, "state"), "worktrees");
  const project = await makeRepository(join(dir, "project"));
  const workspaces = createWorktreeWorkspaces({ root });
  return {
    root,
    project,
    workspaces,
    prepare: (branch = "feat/a") => workspaces.prepare?.({ runId: "r1", project, branch }),
    open: async (runId = "r1", branch = "feat/a") => valueOf(await workspaces.open({ runId, project, branch })),
    named: (prefix: string) => (existsSync(root) ? readdirSync(root).filter((name) => name.startsWith(prefix)) : []),
    commit(files: Readonly<Record<string, string>>) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
      userGit(project, "add", "--all");
      userGit(project, "commit", "--quiet", "-m", "more");
    },
  };
}

type Bench = Awaited<ReturnType<typeof bench>>;

/** The spare's own folder; there is exactly one. */
function spareIn({ root, named }: Bench): string {
  const names = named(".spare.");
  expect(names).toHaveLength(1);
  return join(root, names[0] ?? "", "work");
}

const status = (dir: string): string => userGit(dir, "status", "--porcelain", "--branch", "--ignored");

describe("files that were got ready before", () => {
  test("become the next worktree, and the repository knows of no other", async () => {
    const given = await bench();
    await given.prepare();
    const before = lstatSync(join(spareIn(given), "a.txt"));
    expect(userGit(given.project, "worktree", "list", "--porcelain").match(/^worktree /gmu)).toHaveLength(1);
    expect(userGit(given.project, "status", "--porcelain", "--branch")).toBe("## main");
    expect(userGit(given.project, "branch", "--list", "feat/a")).toBe("");
    const { dir } = await given.open();
    expect(status(dir)).toBe("## feat/a");
    expect(lstatSync(join(dir, "a.txt")).ino).toBe(before.ino);
    expect(readdirSync(given.root)).toEqual(["r1"]);
  });

  test("git writes only what the branch has otherwise by then", async () => {
    const given = await bench();
    given.commit({ "same.txt": "same\n", "gone.txt": "gone\n" });
    await given.prepare();
    const same = lstatSync(join(spareIn(given), "same.txt")).ino;
    userGit(given.project, "rm", "--quiet", "gone.txt");
    given.commit({ "a.txt": "two\n", "new.txt": "new\n" });
    const { dir } = await given.open();
    expect(status(dir)).toBe("## feat/a");
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(join(dir, "new.txt"), "utf8")).toBe("new\n");
    expect(existsSync(join(dir, "gone.txt"))).toBe(false);
    expect(lstatSync(join(dir, "same.txt")).ino).toBe(same);
  });

  test("a repository on another file system than the worktrees gets them, and no file that its branch does not have", async ({
    skip,
  }) => {
    const memory = "/dev/shm";
    const isOther = existsSync(memory) && statSync(memory).dev !== statSync(await tempDir()).dev;
    if (!isOther) skip();
    const state = mkdtempSync(join(memory, "passrail-"));
    try {
      const given = await bench(state);
      userGit(given.project, "switch", "--quiet", "-c", "feat/a");
      given.commit({ "theirs.txt": "work of another run\n" });
      await given.prepare("feat/a");
      userGit(given.project, "switch", "--quiet", "main");
      const before = lstatSync(join(spareIn(given), "a.txt"));
      const { dir } = await given.open("r2", "feat/b");
      expect(status(dir)).toBe("## feat/b");
      expect(lstatSync(join(dir, "a.txt")).ino).toBe(before.ino);
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  });

  test("files are written again where the attributes have changed by which they were written", async () => {
    const given = await bench();
    given.commit({ "lines.txt": "one\ntwo\n" });
    await given.prepare();
    given.commit({ ".gitattributes": "lines.txt eol=crlf\n" });
    const { dir } = await given.open();
    expect(readFileSync(join(dir, "lines.txt"), "utf8")).toBe("one\r\ntwo\r\n");
    expect(status(dir)).toBe("## feat/a");
  });

  test("a file that somebody put among them, or changed there, gets into no worktree", async () => {
    const given = await bench();
    await given.prepare();
    writeFileSync(join(spareIn(given), "planted.txt"), "planted\n");
    const first = await given.open();
    expect(existsSync(join(first.dir, "planted.txt"))).toBe(false);
    expect(given.named(".")).toEqual([]);
    await given.workspaces.prepare?.({ runId: "r2", project: given.project, branch: "feat/b" });
    const changed = join(spareIn(given), "a.txt");
    writeFileSync(changed, "bad\n");
    utimesSync(changed, new Date(), new Date(Date.now() - 5000));
    const second = await given.open("r2", "feat/b");
    expect(readFileSync(join(second.dir, "a.txt"), "utf8")).toBe(readFileSync(join(given.project, "a.txt"), "utf8"));
    expect(status(second.dir)).toBe("## feat/b");
  });

  test("only one of two openings gets them, and both have their files", async () => {
    const given = await bench();
    await given.prepare();
    const inode = lstatSync(join(spareIn(given), "a.txt")).ino;
    const both = await Promise.all([given.open("r1", "feat/a"), given.open("r2", "feat/b")]);
    expect(both.map(({ dir }) => status(dir))).toEqual(["## feat/a", "## feat/b"]);
    expect(both.filter(({ dir }) => lstatSync(join(dir, "a.txt")).ino === inode)).toHaveLength(1);
  });

  test("one is enough, and none is made for a worktree that is open", async () => {
    const given = await bench();
    await Promise.all([given.prepare(), given.prepare("feat/b")]);
    await given.prepare();
    const { dir } = await given.open();
    await given.prepare();
    expect(given.named(".")).toEqual([]);
    expect(status(dir)).toBe("## feat/a");
  });

  test("S11: no filter and no hook of the repository runs", async () => {
    const given = await bench();
    const trace = join(given.root, "..", "ran");
    mkdirSync(join(given.root, ".."), { recursive: true });
    const script = join(given.project, ".git", "evil");
    writeFileSync(script, `#!/bin/sh\ntouch '${trace}'\ncat\n`);
    chmodSync(script, 0o755);
    mkdirSync(join(given.project, ".git", "hooks"), { recursive: true });
    for (const hook of ["post-checkout", "post-index-change"])
      execFileSync("cp", [script, join(given.project, ".git", "hooks", hook)]);
    given.commit({ ".gitattributes": "a.txt filter=evil\n" });
    userGit(given.project, "config", "filter.evil.smudge", script);
    userGit(given.project, "config", "filter.evil.clean", script);
    execFileSync("rm", ["-f", trace]);
    await given.prepare();
    expect(readFileSync(join(spareIn(given), "a.txt"), "utf8")).not.toBe("");
    await given.open();
    expect(existsSync(trace)).toBe(false);
  });

  test("a repository whose settings depend on the worktree gets none", async () => {
    const given = await bench();
    userGit(given.project, "config", "includeIf.onbranch:feat/a.path", "/nowhere");
    await given.prepare();
    expect(given.named(".")).toEqual([]);
    userGit(given.project, "config", "--unset", "includeIf.onbranch:feat/a.path");
    userGit(given.project, "config", "core.sparseCheckout", "true");
    await given.prepare();
    expect(given.named(".")).toEqual([]);
  });
});

describe("what is left of them", () => {
  test("the next process removes what one that was killed had got ready, and what it was making", async () => {
    const given = await bench();
    await given.prepare();
    mkdirSync(join(given.root, ".making.0123456789abcdef.left", "work"), { recursive: true });
    const own = createWorktreeWorkspaces({ root: given.root });
    expect(await own.sweep?.()).toEqual({ ok: true, value: null });
    expect(readdirSync(given.root)).toEqual([]);
  });

  test("a process keeps its own until it drops them", async () => {
    const given = await bench();
    await given.prepare();
    await given.workspaces.sweep?.();
    spareIn(given);
    await given.workspaces.dropPrepared?.();
    expect(readdirSync(given.root)).toEqual([]);
  });

  test("a worktree whose opening was cut off while the files moved opens whole", async () => {
    const given = await bench();
    await given.prepare();
    const spare = spareIn(given);
    const { dir } = await given.open("r2", "feat/b");
    // As a kill leaves it: registered and marked, the files not there yet.
    writeFileSync(join(given.project, ".git", "worktrees", "r2", "locked"), "passrail: opening\n");
    execFileSync("rm", ["-rf", join(dir, ".git"), join(dir, "a.txt")]);
    expect(existsSync(spare)).toBe(false);
    const again = await given.open("r2", "feat/b");
    expect(status(again.dir)).toBe("## feat/b");
    expect(existsSync(join(again.dir, "a.txt"))).toBe(true);
  });
});
