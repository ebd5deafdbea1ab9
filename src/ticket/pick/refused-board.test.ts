import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRefusedBoard, readRefused } from "./refused-board.ts";

const PROBLEM = { code: "repo_not_found", message: "AGI-1 cannot start: no such place", hint: "make it" };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "passrail-refused-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("a command beside the dispatcher, or after it, reads what the dispatcher was refused; only for its project", () => {
  const board = createRefusedBoard({ home, project: "/one" });
  board.set(new Map([["AGI-1", PROBLEM]]));
  expect(board.now().get("AGI-1")).toEqual(PROBLEM);
  expect([...readRefused({ home, project: "/one" })]).toEqual([["AGI-1", PROBLEM]]);
  expect(readRefused({ home, project: "/other" }).size).toBe(0);
  board.set(new Map());
  expect(readRefused({ home, project: "/one" }).size).toBe(0);
});

test("a file that is missing or was written by something else means nothing", () => {
  expect(readRefused({ home, project: "/one" }).size).toBe(0);
  for (const text of ["", "null", "[1]", '{"project":"/one","starts":{"AGI-1":7}}', "{".repeat(1000)]) {
    writeFileSync(join(home, "refused.json"), text);
    expect(readRefused({ home, project: "/one" }).size).toBe(0);
  }
});
