import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readInputFile, readInputFolder } from "./input-file.ts";
import { readPinned, writePinned } from "./pinned-copy.ts";

let base: string;
let project: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "passrail-input-")));
  project = join(base, "project");
  mkdirSync(join(project, "docs"), { recursive: true });
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git/config"), "[remote]\n");
  writeFileSync(join(project, "docs/spec.md"), "# Spec\n");
  writeFileSync(join(base, "secret.txt"), "secret\n");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

test("R-002-01: a file of the project is read with its hash, by a relative or an absolute path", () => {
  const read = readInputFile(project, "docs/spec.md");
  expect(read).toMatchObject({ ok: true, value: { path: "docs/spec.md", text: "# Spec\n", bytes: 7 } });
  expect(readInputFile(project, join(project, "docs/spec.md"))).toEqual(read);
  expect(readInputFile(project, "./docs/../docs/spec.md")).toEqual(read);
});

test.each([
  ["../secret.txt", "is outside the project"],
  ["../../../../../../etc/hostname", "is outside the project"],
  ["/etc/hostname", "is outside the project"],
  ["docs/../../secret.txt", "is outside the project"],
  [".git/config", "is inside git's own folder"],
  ["docs/.GIT/x", "is inside git's own folder"],
  ["docs/none.md", "does not exist"],
  ["docs", "is not used: it is not a regular file"],
  ["", "is not a path"],
  ["docs/\nspec.md", "has control characters in its path"],
  ["docs/\0", "has control characters in its path"],
  ["x".repeat(600), "is not a path"],
])("R-002-01: %j is refused: %s", (path, why) => {
  expect(readInputFile(project, path)).toEqual({ ok: false, error: why });
});

test("links, second names, pipes, large, binary, empty and unreadable files are refused without being read", () => {
  symlinkSync("../../secret.txt", join(project, "docs/link.md"));
  symlinkSync(base, join(project, "out"));
  linkSync(join(base, "secret.txt"), join(project, "docs/hard.md"));
  execFileSync("mkfifo", [join(project, "docs/pipe.md")]);
  writeFileSync(join(project, "docs/huge.md"), "x".repeat(256 * 1024 + 1));
  writeFileSync(join(project, "docs/nul.md"), "a\0b");
  writeFileSync(join(project, "docs/latin.md"), Buffer.from([0x61, 0xe9, 0x62]));
  writeFileSync(join(project, "docs/empty.md"), " \n");
  const why = (path: string): string => {
    const read = readInputFile(project, path);
    return read.ok ? "read" : read.error;
  };
  expect(why("docs/link.md")).toBe("is not used: it is a link");
  expect(why("out/secret.txt")).toBe("is not used: it is a link");
  expect(why("docs/hard.md")).toBe("is not used: the file has a second name (a hard link)");
  expect(why("docs/pipe.md")).toBe("is not used: it is not a regular file");
  expect(why("docs/huge.md")).toBe("is larger than 256 KB");
  expect(why("docs/nul.md")).toBe("is not a text file in UTF-8");
  expect(why("docs/latin.md")).toBe("is not a text file in UTF-8");
  expect(why("docs/empty.md")).toBe("is empty");
  if (process.getuid?.() !== 0) {
    chmodSync(join(project, "docs/spec.md"), 0);
    expect(why("docs/spec.md")).toContain("cannot be read");
  }
});

test("a folder stays inside the project too", () => {
  symlinkSync(base, join(project, "out"));
  expect(readInputFolder(project, "docs/")).toEqual({ ok: true, value: "docs" });
  expect(readInputFolder(project, "..")).toEqual({ ok: false, error: "is outside the project" });
  expect(readInputFolder(project, "out")).toEqual({ ok: false, error: "is not used: it is a link" });
  expect(readInputFolder(project, "docs/spec.md")).toEqual({ ok: false, error: "is not a folder" });
});

test("a copy is found by its hash, and a changed or missing one is noticed", () => {
  const home = join(base, "home");
  const written = writePinned(home, "r1", "the text\n");
  expect(written).toEqual(writePinned(home, "r1", "the text\n"));
  const sha256 = written.ok ? written.value : "";
  expect(readPinned(home, "r1", sha256)).toEqual({ ok: true, value: "the text\n" });
  rmSync(join(home, "runs/r1/pinned", sha256));
  writeFileSync(join(home, "runs/r1/pinned", sha256), "another text\n");
  expect(readPinned(home, "r1", sha256)).toMatchObject({ ok: false, error: { code: "worktree_tampered" } });
  expect(readPinned(home, "r2", sha256)).toMatchObject({ ok: false, error: { code: "worktree_tampered" } });
  // A caller that still has the text writes a damaged copy again.
  expect(writePinned(home, "r1", "the text\n").ok).toBe(true);
  expect(readPinned(home, "r1", sha256)).toEqual({ ok: true, value: "the text\n" });
});
