import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFolder, lookConfined, makeFolders, readConfined, writeConfined } from "./confined.ts";

let dir: string;
let root: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-confined-")));
  root = join(dir, "root");
  mkdirSync(join(root, "a", "b"), { recursive: true });
  mkdirSync(join(dir, "mine"));
  writeFileSync(join(dir, "mine", "f"), "secret");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (...parts: string[]) => join(root, ...parts);
const codeOf = (result: { ok: boolean; error?: { code: string } }) => (result.ok ? "ok" : result.error?.code);

/** Each puts something hostile on the way to a/b/f. */
const PLANTS: Readonly<Record<string, () => void>> = {
  "a link in the place of the file": () => symlinkSync(join(dir, "mine", "f"), at("a", "b", "f")),
  "a link to nothing": () => symlinkSync(join(dir, "nothing"), at("a", "b", "f")),
  "a link inside the root": () => {
    writeFileSync(at("other"), "x");
    symlinkSync(at("other"), at("a", "b", "f"));
  },
  "a second name of a person's file": () => linkSync(join(dir, "mine", "f"), at("a", "b", "f")),
  "a pipe": () => execFileSync("mkfifo", [at("a", "b", "f")]),
  "a folder": () => mkdirSync(at("a", "b", "f")),
  "a folder swapped for a link": () => {
    renameSync(at("a", "b"), at("a", "old"));
    symlinkSync(join(dir, "mine"), at("a", "b"));
  },
  "the first folder swapped for a link": () => {
    renameSync(at("a"), at("old"));
    mkdirSync(join(dir, "mine", "b"));
    writeFileSync(join(dir, "mine", "b", "f"), "secret");
    symlinkSync(join(dir, "mine"), at("a"));
  },
  "the root swapped for a link": () => {
    renameSync(root, `${root}.old`);
    mkdirSync(join(dir, "mine", "a", "b"), { recursive: true });
    writeFileSync(join(dir, "mine", "a", "b", "f"), "secret");
    symlinkSync(join(dir, "mine"), root);
  },
  "a file in the place of a folder": () => {
    rmSync(at("a", "b"), { recursive: true });
    writeFileSync(at("a", "b"), "x");
  },
};

describe.each(Object.entries(PLANTS))("S13: %s", (name, plant) => {
  test("is neither read nor written", () => {
    plant();
    const before = execFileSync("find", [join(dir, "mine"), "-type", "f", "-printf", "%p %s %T@\n"], {
      encoding: "utf8",
    });
    expect(codeOf(readConfined(root, at("a", "b", "f"), 100))).toBe("worktree_tampered");
    expect(codeOf(writeConfined(root, at("a", "b", "f"), "ours"))).toBe("worktree_tampered");
    if (name !== "a folder") expect(codeOf(lookConfined(root, at("a", "b", "f")))).toBe("worktree_tampered");
    expect(codeOf(makeFolders(root, at("a", "b", "f", "deep")))).toBe(name === "a folder" ? "ok" : "worktree_tampered");
    const after = execFileSync("find", [join(dir, "mine"), "-type", "f", "-printf", "%p %s %T@\n"], {
      encoding: "utf8",
    });
    expect(after).toBe(before);
  });
});

test.runIf(process.getuid?.() === 0)("S13: a device is neither read nor written", () => {
  try {
    execFileSync("mknod", [at("a", "b", "f"), "c", "1", "5"], { stdio: "ignore" });
  } catch {
    return; // A container may not make devices.
  }
  expect(codeOf(readConfined(root, at("a", "b", "f"), 100))).toBe("worktree_tampered");
  expect(codeOf(writeConfined(root, at("a", "b", "f"), "ours"))).toBe("worktree_tampered");
});

test("R-X-03: a plain file is read and replaced, and nothing is left beside it", () => {
  expect(readConfined(root, at("a", "b", "f"), 100)).toEqual({ ok: true, value: undefined });
  expect(codeOf(writeConfined(root, at("a", "b", "f"), "one"))).toBe("ok");
  const first = statSync(at("a", "b", "f")).ino;
  expect(codeOf(writeConfined(root, at("a", "b", "f"), "héllo"))).toBe("ok");
  expect(readConfined(root, at("a", "b", "f"), 100)).toEqual({ ok: true, value: "héllo" });
  expect(statSync(at("a", "b", "f")).ino).not.toBe(first);
  expect(statSync(at("a", "b", "f")).mode & 0o777).toBe(0o600);
  expect(readdirSync(at("a", "b"))).toEqual(["f"]);
});

test("R-X-03: a file is measured before it is read", () => {
  writeFileSync(at("large"), "x");
  truncateSync(at("large"), 10 * 1024 ** 3);
  expect(codeOf(readConfined(root, at("large"), 100))).toBe("file_too_large");
});

test("a folder is created once, whatever is in its place", () => {
  expect(createFolder(root, at("new"))).toEqual({ ok: true, value: true });
  expect(createFolder(root, at("new"))).toEqual({ ok: true, value: false });
  symlinkSync(join(dir, "mine"), at("link"));
  expect(createFolder(root, at("link"))).toEqual({ ok: true, value: false });
  expect(readFileSync(join(dir, "mine", "f"), "utf8")).toBe("secret");
});

test.each(["../mine/f", "/etc/passwd", "a/../../mine/f"])("S12: %s is not below the root", (path) => {
  const target = path.startsWith("/") ? path : join(root, path);
  expect(codeOf(readConfined(root, target, 10_000))).toBe("worktree_tampered");
});
