// One way in: every door starts, answers and controls runs through src/app. This reads the sources and fails where one goes around it.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const FILES = globSync("src/**/*.ts", { cwd: ROOT }).filter((file) => !/\.test(suite)?\.ts$/.test(file));

/** What may happen in these files only, and how often. */
const RULES = [
  {
    what: "starts a run at the engine",
    pattern: /\bengine\.startRun\(/g,
    in: { "src/app/start-run/start-run.ts": 1 },
  },
  {
    what: "answers an inbox item",
    pattern: /type: "item\.answered",/g,
    in: {
      "src/app/answer-item.ts": 1,
      // Pure: they ask the transition what an answer would lead to and deliver nothing.
      "src/core/view/consequences.ts": 1,
      "src/core/run/simulate.ts": 1,
    },
  },
  {
    what: "delivers a signal to the engine",
    pattern: /\bengine\.deliver\(/g,
    in: {
      "src/app/deliver.ts": 1,
      // A request by a sender without the right to answer is recorded although the run refuses it, so it is not tried first.
      "src/app/answer-item.ts": 1,
      // The mirror reports edits of ticket files; it is no door, and no person waits for a result.
      "src/compose.ts": 1,
      // The watcher of pull requests and `passrail done` report a merge that the forge has shown.
      "src/ticket/land/merge-stage.ts": 1,
      // The heartbeat is a part of the engine: it notices a silence, nobody asked for it.
      "src/engine/heartbeat.ts": 1,
      // So are the day's budgets: a new day or a raise makes room, nobody asked for it.
      "src/engine/day-budgets.ts": 1,
      // The removal of a landed branch is an act of Passrail's own, stored before and after.
      "src/ticket/land/cleanup.ts": 1,
      // At a hard stop the engine is closed already, and its attempts are recorded as interrupted.
      "src/ticket/pick/interrupt-attempts.ts": 1,
    },
  },
  {
    what: "makes the id of a run",
    pattern: /`r\$\{/g,
    in: { "src/app/run-id.ts": 1 },
  },
] as const;

test.each(RULES)("only the named files do this: $what", ({ pattern, in: allowed }) => {
  expect(FILES.length).toBeGreaterThan(300);
  const found = FILES.flatMap((file) => {
    const times = readFileSync(join(ROOT, file), "utf8").match(pattern)?.length ?? 0;
    return times === 0 ? [] : [[file, times] as const];
  });
  expect(Object.fromEntries(found)).toEqual(allowed);
});
