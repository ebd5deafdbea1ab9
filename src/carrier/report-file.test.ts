import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hasReport, type ReportFile, readReport, writeReport } from "./report-file.ts";

const ID = "0123456789abcdef01234567";
const WHO = { id: ID, incarnation: "store-1" };
const FILE: ReportFile = {
  ...WHO,
  report: { verdict: "SHIP" },
  aborted: null,
  notes: [{ ended: "exited" }],
  heard: [{ number: 1, way: "now" }],
  spent: null,
  strays: [],
};

let home: string;
let dir: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-report-")));
  dir = join(home, "runs", "r1", "build-1");
  mkdirSync(dir, { recursive: true });
  mkdirSync(join(home, "carriers"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("R-000-16: a report is read as it was written, and leaves no draft", () => {
  expect(hasReport(home, dir, ID)).toBe(false);
  writeReport(home, dir, FILE);
  expect(readReport(home, dir, WHO)).toEqual(FILE);
  expect(readdirSync(dir)).toEqual(["report.json"]);
});

test("S07: a report of another carrier or of another incarnation of the store counts for nobody", () => {
  writeReport(home, dir, FILE);
  expect(readReport(home, dir, { ...WHO, id: "f".repeat(24) })).toBeUndefined();
  expect(readReport(home, dir, { ...WHO, incarnation: "store-2" })).toBeUndefined();
});

test("S07: text that is no report counts for nobody", () => {
  for (const text of ["", "{", "[]", JSON.stringify({ ...FILE, report: "SHIP" }), JSON.stringify({ ...WHO })]) {
    writeFileSync(join(dir, "report.json"), text);
    expect(readReport(home, dir, WHO)).toBeUndefined();
  }
});

test("where the attempt's folder is gone, the report is kept beside the carrier's socket", () => {
  rmSync(dir, { recursive: true });
  writeReport(home, dir, FILE);
  expect(readReport(home, dir, WHO)).toEqual(FILE);
});
