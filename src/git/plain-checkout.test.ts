// A checkout that Passrail makes by itself leaves what git would leave, or nothing is touched and git makes it.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit } from "../workspace/workspace.testsuite.ts";
import { checkOutPlainly } from "./plain-checkout.ts";
import { ASK_GIT } from "./plain-file.ts";

afterEach(removeTempDirs);

const put = async (top: string, path: string, text: string): Promise<void> => {
  await mkdir(join(top, path, ".."), { recursive: true });
  await writeFile(join(top, path), text);
};

function commit(project: string): void {
  userGit(project, "add", "--all");
  userGit(project, "commit", "--quiet", "--allow-empty", "-m", "more");
}

/** A worktree with the files and the index of one commit, and the HEAD of the next, which `change` makes. */
async function between(change: (project: string) => Promise<unknown>, first: typeof change = async () => undefined) {
  const dir = await realpath(await tempDir());
  const project = await makeRepository(join(dir, "project"));
  for (const [path, text] of FILES) await put(project, path, text);
  await chmod(join(project, "run.sh"), 0o755);
  await symlink("a.txt", join(project, "link"));
  await first(project);
  commit(project);
  const top = join(dir, "tree");
  userGit(project, "worktree", "add", "--quiet", "--detach", top);
  await change(project);
  commit(project);
  userGit(top, "update-ref", "--no-deref", "HEAD", userGit(project, "rev-parse", "main").trim());
  const commonDir = join(project, ".git");
  return { project, place: { gitDir: join(commonDir, "worktrees", "tree"), commonDir, top } };
}

const FILES = [
  ["run.sh", "#!/bin/sh\n"],
  ["deep/er/x", "x\n"],
  ["deep/y", "y\n"],
  ["same/a/b", "b\n"],
  ["deep.txt", "beside the folder\n"],
] as const;

const both = (...all: readonly Promise<unknown>[]): Promise<unknown> => Promise.all(all);

const CHANGES: readonly { readonly name: string; readonly change: (project: string) => Promise<unknown> }[] = [
  { name: "nothing", change: async () => undefined },
  {
    name: "a changed file and a new one in a new folder",
    change: (p) => both(put(p, "a.txt", "2\n"), put(p, "n/m/x", "")),
  },
  {
    name: "a file that became a program, and back",
    change: (p) => both(chmod(join(p, "a.txt"), 0o755), chmod(join(p, "run.sh"), 0o644)),
  },
  {
    name: "files that are gone, with their folders",
    change: (p) => both(rm(join(p, "deep/er/x")), rm(join(p, "a.txt"))),
  },
  { name: "a folder that is gone", change: (p) => rm(join(p, "deep"), { recursive: true }) },
  { name: "a folder in the place of a file", change: (p) => rm(join(p, "a.txt")).then(() => put(p, "a.txt/in", "x")) },
  {
    name: "a file in the place of a folder",
    change: (p) => rm(join(p, "deep"), { recursive: true }).then(() => put(p, "deep", "x")),
  },
  { name: "a link elsewhere", change: (p) => rm(join(p, "link")).then(() => symlink("no/where", join(p, "link"))) },
  { name: "a file in the place of a link", change: (p) => rm(join(p, "link")).then(() => put(p, "link", "no link\n")) },
  { name: "a folder in the place of a link", change: (p) => rm(join(p, "link")).then(() => put(p, "link/in", "x")) },
  {
    name: "names around the slash in the order of bytes",
    change: (p) => both(put(p, "deep-x/a", "2"), put(p, "deep0", "3"), put(p, "Z", "4"), put(p, "deep/er-x", "5")),
  },
  { name: "bytes that are no text", change: (p) => writeFile(join(p, "binary"), Buffer.from([0, 255, 13, 10, 0])) },
];

test.for(CHANGES)("writes $name as git does", async ({ change }) => {
  const { place } = await between(change);
  expect(await checkOutPlainly(place)).toBe("done");
  expect(userGit(place.top, "status", "--porcelain", "--ignored")).toBe("");
  expect(userGit(place.top, "write-tree")).toBe(userGit(place.top, "rev-parse", "HEAD^{tree}"));
  // As git would have checked it out: the same names, kinds, rights and contents.
  const fresh = `${place.top}-fresh`;
  userGit(place.top, "worktree", "add", "--quiet", "--detach", fresh);
  expect(shapeOf(place.top)).toEqual(shapeOf(fresh));
});

/** Every name with its kind, its rights and what it holds. */
function shapeOf(top: string): readonly string[] {
  const names = readdirSync(top, { recursive: true, encoding: "utf8" }).filter((name) => name !== ".git");
  return names.toSorted().map((name) => {
    const found = lstatSync(join(top, name));
    const held = found.isDirectory()
      ? ""
      : found.isFile()
        ? readFileSync(join(top, name), "hex")
        : readlinkSync(join(top, name));
    return `${name} ${found.mode.toString(8)} ${held}`;
  });
}

const LEFT: readonly {
  readonly name: string;
  readonly first?: (project: string) => Promise<unknown>;
  readonly change?: (project: string) => Promise<unknown>;
  readonly after?: (top: string, project: string) => Promise<unknown> | void;
}[] = [
  { name: "attributes in the commit before", first: (p) => put(p, ".gitattributes", "*.txt text\n") },
  { name: "attributes that are new", change: (p) => put(p, "deep/.gitattributes", "* text\n") },
  { name: "attributes of the repository", after: (_, p) => put(p, ".git/info/attributes", "* text\n") },
  { name: "a setting that changes line ends", after: (_, p) => void userGit(p, "config", "core.autocrlf", "true") },
  { name: "objects that are packed", after: (_, p) => void userGit(p, "gc", "--quiet") },
  { name: "a file that is not as the index has it", after: (top) => writeFile(join(top, "same/a/b"), "c\n") },
  { name: "a file with the size and the time of the index", after: sameSizeAndTime },
  { name: "a file that is gone", after: (top) => rm(join(top, "same/a/b")) },
  {
    name: "a link in the place of a folder",
    after: (top) => rm(join(top, "same"), { recursive: true }).then(() => symlink("/tmp", join(top, "same"))),
  },
  { name: "a name that is not plain", change: (p) => put(p, "ä", "x") },
  { name: "an index in another form", after: (top) => void userGit(top, "update-index", "--index-version", "4") },
  { name: "a lock on the index", after: (_, p) => put(p, ".git/worktrees/tree/index.lock", "") },
  { name: "a repository inside", change: (p) => mkdir(join(p, "inner")).then(() => makeRepository(join(p, "inner"))) },
];

/** The id of another file's content, below the note that git has left. */
async function plantEntry(top: string, project: string): Promise<void> {
  // Both have the same commit, so that nothing but the note says what differs.
  userGit(top, "update-ref", "--no-deref", "HEAD", userGit(project, "rev-parse", "main~").trim());
  const index = join(project, ".git", "worktrees", "tree", "index");
  const bytes = await readFile(index);
  const at = bytes.indexOf(Buffer.from(userGit(top, "rev-parse", "HEAD:same/a/b"), "hex"));
  Buffer.from(userGit(top, "rev-parse", "HEAD:deep/y"), "hex").copy(bytes, at);
  const body = bytes.subarray(0, -20);
  await writeFile(index, Buffer.concat([body, createHash("sha1").update(body).digest()]));
}

async function sameSizeAndTime(top: string): Promise<void> {
  const file = join(top, "same/a/b");
  const before = await stat(file);
  await writeFile(file, "B\n");
  await utimes(file, before.atime, before.mtime);
}

test.for(LEFT)("leaves $name to git, which mends everything", async ({ first, change, after }) => {
  const { project, place } = await between(change ?? ((p) => put(p, "a.txt", "2\n")), first);
  await after?.(place.top, project);
  expect(await checkOutPlainly(place)).toBe(ASK_GIT);
  await rm(join(place.gitDir, "index.lock"), { force: true });
  userGit(place.top, "reset", "--hard", "--quiet");
  expect(userGit(place.top, "status", "--porcelain", "--ignored", "--ignore-submodules")).toBe("");
  expect(await readFile(join(place.top, "same/a/b"), "utf8")).toBe("b\n");
});

test("does not believe the trees that an index notes", async () => {
  const { project, place } = await between(async () => undefined);
  await plantEntry(place.top, project);
  expect(await checkOutPlainly(place)).toBe(ASK_GIT);
});
