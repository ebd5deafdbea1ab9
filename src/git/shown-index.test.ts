// The commit after a diff starts with what the diff showed, and holds what the files are then.

import { appendFile, mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit } from "../workspace/workspace.testsuite.ts";
import { commitLeft } from "./branch-work.ts";
import { diffSince } from "./diff.ts";

afterEach(removeTempDirs);

async function changed(): Promise<{ readonly project: string; readonly diff: () => Promise<string> }> {
  const project = await makeRepository(join(await tempDir(), "project"));
  await appendFile(join(project, "a.txt"), "two\n");
  await mkdir(join(project, "new"));
  await writeFile(join(project, "new", "file.txt"), "new\n");
  const from = userGit(project, "rev-parse", "HEAD");
  return { project, diff: () => diffSince(placeOf(project), project, from, { commits: true }) };
}

const placeOf = (project: string) => ({
  gitDir: join(project, ".git"),
  commonDir: join(project, ".git"),
  top: project,
});
const commit = (project: string) => commitLeft(placeOf(project), { branch: "main", runId: "r1", message: "work" });
const files = (project: string): string => userGit(project, "ls-tree", "-r", "--name-only", "HEAD");

test("nothing between them: the commit holds it, whole and with a clean work tree", async () => {
  const { project, diff } = await changed();
  expect(await diff()).toContain("+++ b/new/file.txt");
  expect((await commit(project)).ok).toBe(true);
  expect(files(project)).toBe(".gitignore\na.txt\nnew/file.txt\npackages/app/b.txt");
  expect(userGit(project, "status", "--porcelain")).toBe("");
  expect(userGit(project, "fsck", "--strict", "--no-dangling")).toBe("");
});

test.for([
  {
    name: "a file changed again, to the same length",
    make: (project: string) => writeFile(join(project, "new", "file.txt"), "NEW\n"),
    shows: ["new/file.txt", "NEW"] as const,
  },
  {
    name: "another file came",
    make: (project: string) => writeFile(join(project, "late.txt"), "late\n"),
    shows: ["late.txt", "late"] as const,
  },
  {
    name: "the agent staged something",
    make: async (project: string) => {
      await writeFile(join(project, "late.txt"), "staged\n");
      userGit(project, "add", "late.txt");
    },
    shows: ["late.txt", "staged"] as const,
  },
])("$name: the commit holds that too", async ({ make, shows: [path, text] }) => {
  const { project, diff } = await changed();
  await diff();
  await make(project);
  expect((await commit(project)).ok).toBe(true);
  expect(userGit(project, "show", `HEAD:${path}`)).toBe(text);
  expect(userGit(project, "status", "--porcelain")).toBe("");
});

test.for([
  { name: "it is ignored since", make: (project: string) => appendFile(join(project, ".gitignore"), "new/\n") },
  { name: "it is gone", make: (project: string) => rm(join(project, "new"), { recursive: true }) },
])("a file of the diff is not committed if $name", async ({ make }) => {
  const { project, diff } = await changed();
  await diff();
  await make(project);
  expect((await commit(project)).ok).toBe(true);
  expect(files(project)).toBe(".gitignore\na.txt\npackages/app/b.txt");
});

test("changes that were undone leave nothing to commit", async () => {
  const { project, diff } = await changed();
  await diff();
  userGit(project, "checkout", "-q", "a.txt");
  await rm(join(project, "new"), { recursive: true });
  expect(await commit(project)).toEqual({ ok: true, value: null });
});

test("an index that claims the tree of the commit hides no change from the diff", async () => {
  const { project, diff } = await changed();
  const index = join(project, ".git", "index");
  const honest = await readFile(index);
  const tree = userGit(project, "rev-parse", "HEAD^{tree}");
  userGit(project, "add", "-A");
  const other = userGit(project, "write-tree");
  const staged = await readFile(index);
  expect(honest.includes(Buffer.from(tree, "hex"))).toBe(true);
  // The tree of what is staged, replaced by the one of the commit.
  const at = staged.indexOf(Buffer.from(other, "hex"));
  Buffer.from(tree, "hex").copy(staged, at);
  await writeFile(index, staged.subarray(0, -20));
  await appendFile(index, Buffer.alloc(20));
  expect(await diff()).toContain("+++ b/a.txt");
});

/** A repository in which git must read every file to say that it is as the index has it: none is older than the index. */
async function justCheckedOut() {
  const project = await makeRepository(join(await tempDir(), "project"));
  const seconds = Math.floor(Date.now() / 1000) - 10;
  // Then only the time of the last change, the size and the place of a file say whether it is the same.
  userGit(project, "config", "core.trustctime", "false");
  const age = (...names: readonly string[]) =>
    Promise.all(names.map((name) => utimes(join(project, name), seconds, seconds)));
  await age(...userGit(project, "ls-files").split("\n"));
  userGit(project, "update-index", "-q", "--refresh");
  await age(".git/index");
  const from = userGit(project, "rev-parse", "HEAD");
  const diff = (commits: boolean) => diffSince(placeOf(project), project, from, { commits });
  const indexAge = async (): Promise<number> => (await stat(join(project, ".git", "index"))).mtimeMs / 1000 - seconds;
  return { project, age, diff, indexAge };
}

test("after a diff without changes git reads no file again that is as old as its index", async () => {
  const { project, diff, indexAge } = await justCheckedOut();
  const before = await readFile(join(project, ".git", "index"));
  expect(await diff(true)).toBe("");
  expect(await indexAge()).toBeGreaterThan(1);
  expect((await readFile(join(project, ".git", "index"))).equals(before)).toBe(true);
  await writeFile(join(project, "a.txt"), "x".repeat((await stat(join(project, "a.txt"))).size));
  expect(await diff(true)).toContain("+++ b/a.txt");
});

test("the index of the user's own work tree keeps its time", async () => {
  const { diff, indexAge } = await justCheckedOut();
  expect(await diff(false)).toBe("");
  expect(await indexAge()).toBe(0);
});

test("a change that only reading shows stays in sight", async () => {
  const { project, age, diff, indexAge } = await justCheckedOut();
  await writeFile(join(project, "a.txt"), "x".repeat((await stat(join(project, "a.txt"))).size));
  await age("a.txt");
  for (const _ of [1, 2]) expect(await diff(true)).toContain("+++ b/a.txt");
  expect(await indexAge()).toBe(0);
});
