// The split of a joint history into the histories of its parts, in a real repository.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ignoreLines, namesBeside, splitHistory } from "./split-history.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-split-")));
  git("init", "-q", "-b", "main");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=Ann Ö", "-c", "user.email=ann@localhost"];
  return execFileSync("git", ["-C", dir, ...who, ...args], { encoding: "utf8" }).trim();
}

function commit(files: Readonly<Record<string, string>>, message: string): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  git("add", "-A", "-f");
  git("commit", "-q", "-m", message);
  return git("rev-parse", "HEAD");
}

/** A commit of a repository of its own, with these files. */
function alone(files: Readonly<Record<string, string>>, message: string): string {
  git("checkout", "-q", "--orphan", `o-${message}`);
  git("rm", "-r", "-q", "-f", "--ignore-unmatch", ".");
  const made = commit(files, message);
  git("checkout", "-q", "--detach");
  return made;
}

const split = (base: string, part: string, first: string, others: readonly string[]) =>
  splitHistory(
    { gitDir: join(dir, ".git"), base, tip: git("rev-parse", "HEAD") },
    { dir: part, commit: first, others },
  );

test("each part gets the commits that changed it, with author, date and message, and a merge only where both sides changed it", async () => {
  const api = alone({ "a.txt": "1" }, "api");
  const web = alone({ "w.txt": "1" }, "web");
  const base = alone({ "api/a.txt": "1", "web/w.txt": "1" }, "base");
  git("checkout", "-q", "-b", "be", base);
  commit({ "api/a.txt": "2", "api/ü.txt": "new" }, "Ändere die API\n\nMit Grund.");
  git("checkout", "-q", "-b", "fe", base);
  commit({ "web/w.txt": "2" }, "page");
  git("checkout", "-q", "-b", "run", base);
  git("merge", "-q", "--no-ff", "-m", "join be", "be");
  git("merge", "-q", "--no-ff", "-m", "join fe", "fe");
  const first = await split(base, "api", api, ["web"]);
  if (!first.ok) throw new Error(first.error.message);
  expect(git("log", "--format=%s|%b|%an|%P", first.value, `^${api}`)).toBe(`Ändere die API|Mit Grund.\n|Ann Ö|${api}`);
  expect(git("ls-tree", "--name-only", "-z", first.value).split("\0")).toEqual(["a.txt", "ü.txt", ""]);
  expect(await split(base, "api", api, ["web"])).toEqual(first);
  commit({ "api/a.txt": "3" }, "more");
  const later = await split(base, "api", api, ["web"]);
  expect(later.ok ? git("log", "-1", "--format=%P", later.value) : "").toBe(first.value);
  const page = await split(base, "web", web, ["api"]);
  expect(page.ok ? git("log", "--format=%s", page.value) : "").toBe("page\nweb");
  expect(await namesBeside(join(dir, ".git"), "HEAD", ["api", "web"])).toEqual({ ok: true, value: [] });
  expect(await namesBeside(join(dir, ".git"), "HEAD", ["web"])).toEqual({ ok: true, value: ["api"] });
});

test("the project's own part is everything else, with its ignore rules as they were", async () => {
  const own = alone({ ".gitignore": "/lib/api/\n*.log", "lib/x.txt": "1" }, "own");
  const joined = {
    ".gitignore": `/lib/api/\n*.log\n${ignoreLines(["lib/api"])}`,
    "lib/x.txt": "1",
    "lib/api/a.txt": "1",
  };
  const base = alone(joined, "base");
  commit({ "lib/api/a.txt": "2" }, "only the part");
  expect(await split(base, ".", own, ["lib/api"])).toEqual({ ok: true, value: own });
  commit({ ".gitignore": `${joined[".gitignore"]}*.tmp\n`, "lib/x.txt": "2" }, "own work");
  const found = await split(base, ".", own, ["lib/api"]);
  const id = found.ok ? found.value : "";
  expect(git("show", `${id}:.gitignore`)).toBe("/lib/api/\n*.log\n*.tmp");
  expect(git("ls-tree", "-r", "--name-only", id).split("\n")).toEqual([".gitignore", "lib/x.txt"]);
  expect(git("check-ignore", "--no-index", "-v", "lib/api/new.log")).toContain("!/lib/api/**");
});

test("a part whose folder is gone is an error; one that nothing changed stays at its first commit", async () => {
  const api = alone({ "a.txt": "1" }, "api");
  const base = alone({ "api/a.txt": "1", "x.txt": "1" }, "base");
  expect(await split(base, "api", api, [])).toEqual({ ok: true, value: api });
  const early = { gitDir: join(dir, ".git"), base: commit({ "x.txt": "2" }, "later"), tip: base };
  expect(await splitHistory(early, { dir: "api", commit: api, others: [] })).toMatchObject({
    error: { code: "work_not_on_branch" },
  });
  git("rm", "-r", "-q", "api");
  git("commit", "-q", "-m", "away");
  expect(await split(base, "api", api, [])).toMatchObject({ ok: false, error: { code: "repository_gone" } });
});
