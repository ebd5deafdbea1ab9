import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMirrorLog } from "./mirror-log.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-mirror-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("what was last noted of each run is there after a restart; a run that is over is forgotten", () => {
  const file = join(dir, "tickets.jsonl");
  const log = openMirrorLog(file);
  log.write({ run: "r1", before: "Backlog", word: "Needs Plan" });
  log.write({ run: "r1", before: "Needs Plan", word: "Plan In Progress" });
  log.write({ run: "r2", before: "Backlog", word: "Needs Plan" });
  log.write({ run: "r3", letGo: "Blocked" });
  log.forget("r2");
  log.close();
  // A crash in the middle of a line, and unrelated garbage.
  appendFileSync(file, 'null\n{"run":7}\n{"run":"r1","before":"x"}\n{"run":"r1","word":"y","bef');
  const again = openMirrorLog(file);
  expect([...again.notes.values()]).toEqual([
    { run: "r1", before: "Needs Plan", word: "Plan In Progress" },
    { run: "r3", letGo: "Blocked" },
  ]);
  again.write({ run: "r4", before: "Backlog", word: "Needs Plan" });
  again.close();
  expect(openMirrorLog(file).notes.has("r4")).toBe(true);
});

test("the file does not grow with what is over", () => {
  const file = join(dir, "tickets.jsonl");
  const log = openMirrorLog(file);
  const long = "x".repeat(200_000);
  log.write({ run: "stays", before: "Backlog", word: "Needs Plan" });
  for (let index = 0; index < 12; index++) {
    log.write({ run: `r${index}`, before: long, word: "Needs Plan" });
    log.forget(`r${index}`);
  }
  log.close();
  expect(readFileSync(file).length).toBeLessThan(1_300_000);
  expect([...openMirrorLog(file).notes.keys()]).toEqual(["stays"]);
});
