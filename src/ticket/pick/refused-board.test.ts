import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRefusedBoard } from "./refused-board.ts";

test("a process knows what the last one of its project was refused, until its own first round says otherwise", () => {
  const home = mkdtempSync(join(tmpdir(), "passrail-refused-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const refused = new Map([["AGI-1", { code: "no_repository", message: "its repository is gone" }]]);
  createRefusedBoard({ home, project: "/p" }).set(refused);
  const next = createRefusedBoard({ home, project: "/p" });
  expect(next.now()).toEqual(refused);
  expect(createRefusedBoard({ home, project: "/other" }).now()).toEqual(new Map());
  next.set(new Map());
  expect(createRefusedBoard({ home, project: "/p" }).now()).toEqual(new Map());
});
