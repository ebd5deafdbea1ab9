// What Passrail reads by itself must be what git says, or be left to git.

import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit } from "../workspace/workspace.testsuite.ts";
import { readConfig } from "./git.ts";
import { holdsGitlink, installIndex, notedTree } from "./index-file.ts";
import { parsePlainConfig } from "./plain-config.ts";
import { ASK_GIT } from "./plain-file.ts";
import { readHead, readNames, readRefs } from "./plain-refs.ts";
import { findPlainRepository } from "./plain-repository.ts";
import { findRepository } from "./repository.ts";

afterEach(removeTempDirs);

type State = { readonly name: string; readonly isPlain: boolean; readonly make: (project: string) => Promise<unknown> };

const at = (project: string, ...names: string[]): string => join(project, ".git", ...names);
const commit = (project: string): string => userGit(project, "rev-parse", "HEAD");
const branchFile = async (project: string, name: string, text: string): Promise<void> => {
  await mkdir(at(project, "refs", "heads", "x"), { recursive: true });
  await writeFile(at(project, "refs", "heads", "x", name), text);
};

const STATES: readonly State[] = [
  { name: "a fresh repository", isPlain: true, make: async () => undefined },
  {
    name: "packed, loose and changed since",
    isPlain: true,
    make: async (project) => {
      for (const name of ["a", "b/c", "b/d", "wide-ä"]) userGit(project, "branch", name);
      userGit(project, "tag", "-a", "-m", "t", "v1");
      userGit(project, "pack-refs", "--all");
      userGit(project, "commit", "--allow-empty", "-qm", "second");
      userGit(project, "branch", "-f", "a");
      userGit(project, "branch", "-D", "b/c");
      userGit(project, "branch", "new");
    },
  },
  {
    name: "the HEAD of a remote, also one that leads nowhere",
    isPlain: true,
    make: async (project) => {
      userGit(project, "update-ref", "refs/remotes/origin/main", "HEAD");
      userGit(project, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
      userGit(project, "symbolic-ref", "refs/remotes/other/HEAD", "refs/remotes/other/gone");
    },
  },
  {
    name: "a detached HEAD, and files of a write that is under way",
    isPlain: true,
    make: async (project) => {
      userGit(project, "switch", "--detach", "-q");
      await branchFile(project, "y.lock", "");
    },
  },
  {
    name: "another format of ids",
    isPlain: true,
    make: async (project) => {
      await rm(at(project), { recursive: true });
      userGit(project, "init", "-q", "-b", "main", "--object-format=sha256");
      const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
      userGit(project, ...who, "commit", "--allow-empty", "-qm", "first");
      userGit(project, "branch", "a");
    },
  },
  {
    name: "a branch that is a symbolic ref",
    isPlain: false,
    make: async (project) => userGit(project, "symbolic-ref", "refs/heads/alias", "refs/heads/main"),
  },
  { name: "an empty ref", isPlain: false, make: (project) => branchFile(project, "y", "") },
  { name: "a ref of zeros", isPlain: false, make: (project) => branchFile(project, "y", `${"0".repeat(40)}\n`) },
  { name: "a ref with more in it", isPlain: false, make: (p) => branchFile(p, "y", `${commit(p)} and more\n`) },
  { name: "a name that git refuses", isPlain: false, make: (p) => branchFile(p, "y~1", `${commit(p)}\n`) },
  {
    name: "a ref that is a link",
    isPlain: false,
    make: (project) => symlink("main", at(project, "refs", "heads", "link")),
  },
  {
    name: "a folder of refs that is a link",
    isPlain: false,
    make: async (project) => {
      await rename(at(project, "refs", "heads"), at(project, "heads"));
      await symlink("../heads", at(project, "refs", "heads"));
    },
  },
];

describe("refs", () => {
  test.for(STATES)("$name: as git lists them, or left to git", async ({ isPlain, make }) => {
    const project = await makeRepository(join(await tempDir(), "project"));
    await make(project);
    const listed = userGit(project, "for-each-ref", "--format=%(refname) %(objectname)").split("\n");
    const read = await readRefs(at(project));
    expect(read !== ASK_GIT).toBe(isPlain);
    if (read === ASK_GIT) return;
    expect([...read].map(([name, id]) => `${name} ${id}`).toSorted()).toEqual(listed.toSorted());
    const place = { gitDir: at(project), commonDir: at(project) };
    const names = ["HEAD", ...read.keys(), "refs/heads/none", "refs/heads/b", "main"];
    const ids = names.map((name) => {
      try {
        return userGit(project, "rev-parse", "--verify", "--quiet", "--end-of-options", name);
      } catch {
        return null;
      }
    });
    // Short names have rules of their own.
    const ours = readNames(place, names).slice(0, -1);
    const symbolic = new Set(names.filter((name) => name.endsWith("/HEAD")));
    expect(ours.map((id, index) => (symbolic.has(names[index] ?? "") ? "" : id))).toEqual(
      ids.slice(0, -1).map((id, index) => (symbolic.has(names[index] ?? "") ? "" : id)),
    );
  });

  test("a branch that is a symbolic ref, an unborn one, and refs in another store are left to git", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const place = { gitDir: at(project), commonDir: at(project) };
    expect(readHead(place)).toEqual({ branch: "refs/heads/main", commit: commit(project) });
    userGit(project, "switch", "-q", "--orphan", "empty");
    expect(readHead(place)).toBeNull();
    userGit(project, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
    userGit(project, "symbolic-ref", "HEAD", "refs/heads/alias");
    expect(readHead(place)).toBe(ASK_GIT);
    userGit(project, "symbolic-ref", "HEAD", "refs/heads/main");
    await appendFile(at(project, "config"), "[extensions]\n\trefStorage = reftable\n");
    expect(readHead(place)).toBe(ASK_GIT);
    expect(await readRefs(at(project))).toBe(ASK_GIT);
  });
});

describe("the repository around a folder", () => {
  const setting = (text: string) => (project: string) => appendFile(at(project, "config"), text);
  test.for<State>([
    { name: "an ordinary one", isPlain: true, make: async () => undefined },
    { name: "a remote and a branch", isPlain: true, make: setting('[remote "origin"]\n\turl = /x\n') },
    { name: "a work tree elsewhere", isPlain: false, make: setting("[core]\n\tworktree = /\n") },
    { name: "bare by a setting", isPlain: false, make: setting("[core]\n\tbare\n") },
    { name: "an include", isPlain: false, make: setting("[include]\n\tpath = other\n") },
    { name: "a format that does not exist", isPlain: false, make: setting("[core]\nrepositoryFormatVersion=7\n") },
    { name: "no objects", isPlain: false, make: (project) => rm(at(project, "objects"), { recursive: true }) },
    { name: "no HEAD", isPlain: false, make: (project) => rm(at(project, "HEAD")) },
    {
      name: "a .git that is a link",
      isPlain: false,
      make: async (project) => {
        await rename(at(project), join(project, "..", "real"));
        await symlink("../real", at(project));
      },
    },
  ])("$name: as git finds it, or left to git", async ({ isPlain, make }) => {
    const project = await makeRepository(join(await tempDir(), "project"));
    await make(project);
    const found = findPlainRepository(join(project, "packages", "app"));
    expect(found !== ASK_GIT).toBe(isPlain);
    if (found === ASK_GIT) return;
    const said = userGit(join(project, "packages", "app"), "rev-parse", "--absolute-git-dir", "--show-prefix");
    expect([found.gitDir, found.prefix]).toEqual(said.split("\n"));
  });

  test("a folder inside of a repository's own files is left to git, which refuses it", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    expect(findPlainRepository(at(project))).toBe(ASK_GIT);
    expect(await findRepository(at(project, "hooks"))).toMatchObject({ ok: false, error: { code: "bare_repository" } });
  });
});

describe("settings", () => {
  test("are those of the file as it is now, and of everything that it includes", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const place = { gitDir: at(project), commonDir: at(project), top: project };
    const drivers = async () => {
      const read = await readConfig(project, place);
      return read.ok ? read.value.filter(([key]) => key.startsWith("filter.")) : read;
    };
    expect(await drivers()).toEqual([]);
    await appendFile(at(project, "config"), '[filter "a\\"b"]\n\tclean = x\n');
    expect(await drivers()).toEqual([['filter.a"b.clean', "x"]]);
    await writeFile(at(project, "more"), '[filter "c"]\n\tclean = y\n');
    await appendFile(at(project, "config"), "[INCLUDE]\n\tpath = more\n");
    expect(await drivers()).toContainEqual(["filter.c.clean", "y"]);
    await writeFile(at(project, "more"), '[filter "d"]\n\tclean = z\n');
    expect(await drivers()).toContainEqual(["filter.d.clean", "z"]);
  });

  test.for(
    [
      '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
      '[User]\n\tName = Ada Lovelace\n[filter "A=b.C"]\n\tClean = x\n\tclean = y\n[branch "feat/a b"]\n\tmerge = refs/heads/a\n',
      '[a]\n\tb = "quoted"\n',
      "[a]\n\tb = two  spaces\n",
      "[a]\n\tb = x # comment\n",
      "[a]\n\tb = x ; comment\n",
      "[a]\n\tb = one\\\n two\n",
      '[a "x\\"y"]\n\tb = c\n',
      "[a.Sub]\n\tb = c\n",
      "[a]\n\tb\n",
      "[a]\n\tb =\n",
      "[a]\n\tb=c\n",
      "[a] b = c\n",
      "[a]\n\tb = c\r\n",
      "[a]\n\tb = ä\n",
      "[a]\n\tb = c",
      "\ufeff[a]\n\tb = c\n",
      "\tb = c\n",
    ].map((text, at) => ({ text, isPlain: at < 2 })),
  )("$text: as git lists them, or left to git", async ({ text, isPlain }) => {
    const dir = await tempDir();
    const bytes = Buffer.from(text);
    await writeFile(join(dir, "config"), bytes);
    const ours = parsePlainConfig(bytes);
    expect(ours !== null).toBe(isPlain);
    if (ours === null) return;
    const listed = userGit(dir, "config", "--file", join(dir, "config"), "--null", "--list");
    expect(ours.map(([key, value]) => `${key}\n${value}\0`).join("")).toBe(listed);
  });

  test("that git writes by itself need no git", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    userGit(project, "remote", "add", "origin", "https://example.org/a.git");
    const ours = parsePlainConfig(await readFile(at(project, "config")));
    const listed = userGit(project, "config", "--local", "--null", "--list");
    expect(ours?.map(([key, value]) => `${key}\n${value}\0`).join("")).toBe(listed);
  });

  test("of a single work tree count too", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const place = { gitDir: at(project), commonDir: at(project), top: project };
    await readConfig(project, place);
    userGit(project, "config", "extensions.worktreeConfig", "true");
    await writeFile(at(project, "config.worktree"), '[filter "w"]\n\tclean = x\n');
    const read = await readConfig(project, place);
    expect(read.ok ? read.value : []).toContainEqual(["filter.w.clean", "x"]);
  });
});

describe("the index of a snapshot", () => {
  const index = async (project: string): Promise<Buffer> => readFile(at(project, "index"));

  test("shows whether it names commits of other repositories", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    expect(holdsGitlink(await index(project), 20)).toBe(false);
    await writeFile(join(project, `${"long/".repeat(50)}name`.replaceAll("/", "-")), "x");
    userGit(project, "add", "-A");
    expect(holdsGitlink(await index(project), 20)).toBe(false);
    userGit(project, "update-index", "--add", "--cacheinfo", `160000,${commit(project)},z/nested`);
    expect(holdsGitlink(await index(project), 20)).toBe(true);
    const whole = await index(project);
    expect(holdsGitlink(whole.subarray(0, 200), 20)).toBe(ASK_GIT);
    expect(holdsGitlink(Buffer.from("nonsense"), 20)).toBe(ASK_GIT);
    userGit(project, "update-index", "--index-version", "4");
    expect(holdsGitlink(await index(project), 20)).toBe(ASK_GIT);
    userGit(project, "update-index", "--index-version", "2", "--split-index");
    expect(holdsGitlink(await index(project), 20)).not.toBe(false);
  });

  test("notes its tree for as long as git knows it", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const tree = userGit(project, "rev-parse", "HEAD^{tree}");
    expect(notedTree(await index(project), 20)).toBe(tree);
    await writeFile(join(project, "packages", "app", "b.txt"), "changed\n");
    userGit(project, "add", "-A");
    expect(notedTree(await index(project), 20)).toBe(null);
    const written = userGit(project, "write-tree");
    expect(notedTree(await index(project), 20)).toBe(written);
    const whole = await index(project);
    for (const odd of [whole.subarray(0, -30), Buffer.from("nonsense"), whole.subarray(0, 100)])
      expect(notedTree(odd, 20)).toBe(null);
    userGit(project, "update-index", "--index-version", "4");
    expect(notedTree(await index(project), 20)).toBe(null);
  });

  test("replaces that of the work tree under git's lock; an unfinished merge is for git", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const snapshot = { bytes: await index(project), at: Math.floor(Date.now() / 1000) };
    await writeFile(join(project, "new.txt"), "new\n");
    userGit(project, "add", "-A");
    await writeFile(at(project, "index.lock"), "");
    expect(installIndex(at(project), snapshot)).toBe("locked");
    await rm(at(project, "index.lock"));
    await writeFile(at(project, "MERGE_HEAD"), `${commit(project)}\n`);
    expect(installIndex(at(project), snapshot)).toBe(ASK_GIT);
    await rm(at(project, "MERGE_HEAD"));
    await chmod(at(project, "index"), 0o664);
    expect(installIndex(at(project), snapshot)).toBe("installed");
    expect(userGit(project, "status", "--porcelain")).toBe("?? new.txt");
    expect(existsSync(at(project, "index.lock"))).toBe(false);
  });
});
