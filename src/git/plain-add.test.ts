// A snapshot that Passrail makes by itself is the one that git would make, or it is left to git.

import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit } from "../workspace/workspace.testsuite.ts";
import { commitLeft } from "./branch-work.ts";
import { diffSince } from "./diff.ts";
import { readEntries } from "./index-entries.ts";
import { addPlainly, areUnchanged, type PlainSnapshot } from "./plain-add.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

afterEach(removeTempDirs);

const placeOf = (project: string) => ({
  gitDir: join(project, ".git"),
  commonDir: join(project, ".git"),
  top: project,
});

const repository = async (): Promise<string> => makeRepository(join(await tempDir(), "project"));

async function added(project: string): Promise<PlainSnapshot | AskGit> {
  const entries = readEntries(await readFile(join(project, ".git", "index")), 20);
  if (entries === ASK_GIT) return ASK_GIT;
  const listed = userGit(project, "ls-files", "--others", "--modified", "--exclude-standard", "-z");
  return addPlainly(
    placeOf(project),
    entries,
    listed.split("\0").filter((path) => path !== ""),
    20,
  );
}

const put = async (project: string, path: string, text: string): Promise<void> => {
  await mkdir(join(project, path, ".."), { recursive: true });
  await writeFile(join(project, path), text);
};

test.for<{ name: string; make: (project: string) => Promise<unknown> }>([
  {
    name: "a changed file and a new one in a new folder",
    make: (p) => both(put(p, "a.txt", "2\n"), put(p, "n/m/x", "")),
  },
  { name: "a program", make: (p) => put(p, "run.sh", "#!/bin/sh\n").then(() => chmod(join(p, "run.sh"), 0o755)) },
  { name: "a file that became a program", make: (p) => chmod(join(p, "a.txt"), 0o755) },
  { name: "a link to nowhere", make: (p) => symlink("no/where", join(p, "link")) },
  { name: "a file that is gone", make: (p) => rm(join(p, "a.txt")) },
  { name: "a folder that is gone", make: (p) => rm(join(p, "packages"), { recursive: true }) },
  { name: "a folder in the place of a file", make: (p) => rm(join(p, "a.txt")).then(() => put(p, "a.txt/in", "x")) },
  {
    name: "a file in the place of a folder",
    make: (p) => rm(join(p, "packages"), { recursive: true }).then(() => put(p, "packages", "x")),
  },
  {
    name: "names around the slash in the order of bytes",
    make: (p) =>
      both(put(p, "packages.txt", "1"), put(p, "packages-x/a", "2"), put(p, "packages0", "3"), put(p, "Z", "4")),
  },
  {
    name: "a name of three hundred letters below folders",
    make: (p) => put(p, `${"d".repeat(200)}/${"f".repeat(200)}`, "x"),
  },
])("$name: the same tree and the same index as git's", async ({ make }) => {
  const project = await repository();
  await make(project);
  const made = await added(project);
  if (made === ASK_GIT) throw new Error("it was left to git");
  const ours = join(project, "..", "index");
  await writeFile(ours, made.index);
  const env = { ...process.env, GIT_INDEX_FILE: ours };
  const listed = execFileSync("git", ["-C", project, "ls-files", "--stage"], { env, encoding: "utf8" }).trim();
  userGit(project, "add", "--all");
  expect(made.tree).toBe(userGit(project, "write-tree"));
  expect(listed).toBe(userGit(project, "ls-files", "--stage"));
  // git finds the files as the index has them, and the trees as it would note them.
  expect(execFileSync("git", ["-C", project, "diff-files", "--quiet"], { env, encoding: "utf8" })).toBe("");
  expect(execFileSync("git", ["-C", project, "write-tree"], { env, encoding: "utf8" }).trim()).toBe(made.tree);
  expect(areUnchanged(project, made.files)).toBe(true);
});

const both = (...all: readonly Promise<unknown>[]): Promise<unknown> => Promise.all(all);

test.for<{ name: string; make: (project: string) => Promise<unknown> }>([
  { name: "attributes in the repository", make: (p) => put(p, ".gitattributes", "* text=auto\n") },
  {
    name: "attributes in an ignored file",
    make: (p) =>
      both(
        put(p, ".git/info/exclude", ".gitattributes\n"),
        put(p, "n/.gitattributes", "* eol=crlf\n"),
        put(p, "n/x", "1"),
      ),
  },
  {
    name: "attributes of the user's own clone",
    make: (p) => both(put(p, ".git/info/attributes", "* ident\n"), put(p, "x", "1")),
  },
  {
    name: "line ends that are converted",
    make: async (p) => both(put(p, "x", "1"), Promise.resolve(userGit(p, "config", "core.autocrlf", "input"))),
  },
  {
    name: "modes that do not count",
    make: async (p) => both(put(p, "x", "1"), Promise.resolve(userGit(p, "config", "core.fileMode", "false"))),
  },
  {
    name: "another form of the index",
    make: async (p) => both(put(p, "x", "1"), Promise.resolve(userGit(p, "update-index", "--index-version", "4"))),
  },
  {
    name: "a file that is taken for unchanged",
    make: async (p) =>
      both(put(p, "x", "1"), Promise.resolve(userGit(p, "update-index", "--assume-unchanged", "a.txt"))),
  },
  { name: "a file that will be added", make: async (p) => put(p, "x", "1").then(() => userGit(p, "add", "-N", "x")) },
  { name: "a name that some systems take for .git", make: (p) => put(p, "git~1", "x") },
  { name: "a name of other letters", make: (p) => put(p, "é", "x") },
  {
    name: "a pipe in the place of a file",
    make: (p) => rm(join(p, "a.txt")).then(() => execFileSync("mkfifo", [join(p, "a.txt")])),
  },
])("$name: git is asked", async ({ make }) => {
  const project = await repository();
  await make(project);
  expect(await added(project)).toBe(ASK_GIT);
});

test("a file of the snapshot that is written again, replaced, or comes back is seen", async () => {
  const project = await repository();
  await put(project, "x", "1");
  await rm(join(project, "a.txt"));
  const made = await added(project);
  if (made === ASK_GIT) throw new Error("it was left to git");
  expect(areUnchanged(project, made.files)).toBe(true);
  await put(project, "a.txt", "back");
  expect(areUnchanged(project, made.files)).toBe(false);
  await rm(join(project, "a.txt"));
  expect(areUnchanged(project, made.files)).toBe(true);
  await put(project, "x", "2");
  expect(areUnchanged(project, made.files)).toBe(false);
});

test("a commit as shown holds exactly what the diff has shown, and is whole", async () => {
  const project = await repository();
  await put(project, "a.txt", "two\n");
  await put(project, "new/file.txt", "new\n");
  const from = userGit(project, "rev-parse", "HEAD");
  expect(await diffSince(placeOf(project), project, from, { commits: true })).toContain("+++ b/new/file.txt");
  await put(project, "late.txt", "late\n");
  const work = { branch: "main", runId: "r1", message: "work", asShown: true };
  expect((await commitLeft(placeOf(project), work)).ok).toBe(true);
  expect(userGit(project, "ls-tree", "-r", "--name-only", "HEAD")).toBe(
    ".gitignore\na.txt\nnew/file.txt\npackages/app/b.txt",
  );
  expect(userGit(project, "status", "--porcelain")).toBe("?? late.txt");
  expect(userGit(project, "fsck", "--strict", "--no-dangling")).toBe("");
});

test("a commit as shown makes no temporary file; one that looks again does", async () => {
  const project = await repository();
  const work = { branch: "main", runId: "r1", message: "work", asShown: true };
  await put(project, "deep/below/x", "1\n");
  await diffSince(placeOf(project), project, userGit(project, "rev-parse", "HEAD"), { commits: true });
  vi.stubEnv("TMPDIR", join(project, "..", "gone"));
  try {
    expect((await commitLeft(placeOf(project), work)).ok).toBe(true);
    await put(project, "deep/below/x", "2\n");
    await expect(commitLeft(placeOf(project), work)).rejects.toThrow("gone");
  } finally {
    vi.unstubAllEnvs();
  }
  expect(userGit(project, "show", "HEAD:deep/below/x")).toBe("1");
  expect(userGit(project, "fsck", "--strict", "--no-dangling")).toBe("");
});

test("a commit as shown looks again if a shown file has changed since, or there was no diff", async () => {
  const project = await repository();
  const work = { branch: "main", runId: "r1", message: "work", asShown: true };
  await put(project, "x", "1\n");
  expect((await commitLeft(placeOf(project), work)).ok).toBe(true);
  expect(userGit(project, "show", "HEAD:x")).toBe("1");
  await put(project, "x", "2\n");
  await diffSince(placeOf(project), project, userGit(project, "rev-parse", "HEAD"), { commits: true });
  await put(project, "x", "3\n");
  expect((await commitLeft(placeOf(project), work)).ok).toBe(true);
  expect(userGit(project, "show", "HEAD:x")).toBe("3");
});

test("an index that names an object which is not there makes no commit", async () => {
  const project = await repository();
  userGit(project, "update-index", "--add", "--cacheinfo", `100644,${"1".repeat(40)},ghost`);
  await put(project, "x", "1\n");
  const from = userGit(project, "rev-parse", "HEAD");
  await diffSince(placeOf(project), project, from, { commits: true });
  await commitLeft(placeOf(project), { branch: "main", runId: "r1", message: "work", asShown: true });
  expect(userGit(project, "fsck", "--connectivity-only", "--no-dangling", "HEAD")).toBe("");
});
