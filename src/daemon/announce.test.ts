import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LooseEnd } from "../core/view/loose-end.ts";
import { idOf } from "../notify/sign.ts";
import type { Notice } from "../notify/notify.ts";
import { announce, openAnnouncer } from "./announce.ts";

let home: string;
let ends: readonly LooseEnd[];
let unseen: number;
let notices: Notice[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "passrail-announce-"));
  ends = [];
  unseen = 0;
  notices = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function broken(number: number): LooseEnd {
  const path = `feature_requests/FR-1/AGI-${number}.md`;
  const what = { kind: "file", title: path, text: "The ticket cannot start.", since: null, run: null } as const;
  return { ...what, id: `file:${path}`, ticket: `AGI-${number}`, isTold: false, verbs: [] };
}

const options = () => ({
  home,
  looseEnds: async () => ({ ends, unseen }),
  notifier: { notify: async (notice: Notice) => notices.push(notice) > 0 },
  onProblem: (error: unknown) => expect.unreachable(String(error)),
});

test("the first start in a new state folder tells what waits; a folder with runs only remembers it", async () => {
  ends = [broken(1)];
  await announce(options());
  expect(notices).toEqual([]);
  rmSync(join(home, "announced.json"));
  await openAnnouncer({ ...options(), isFirstStart: true, pauseMs: 3_600_000 }).close();
  await announce(options());
  await announce(options());
  expect(notices.map(({ text }) => text)).toEqual(["feature_requests/FR-1/AGI-1.md: The ticket cannot start."]);
});

test("more than twenty things at once are one notice", async () => {
  await announce(options());
  ends = Array.from({ length: 21 }, (_, index) => broken(index + 1));
  await announce(options());
  await announce(options());
  expect(notices.map(({ text }) => text)).toEqual(["21 things wait for you (21 file): passrail inbox"]);
});

test("a notice that a crash repeats has the same id; the same thing that waits again has another", async () => {
  await announce(options());
  ends = [broken(1)];
  const dies = { ...options(), notifier: { notify: async (notice: Notice) => Promise.reject(notices.push(notice)) } };
  await expect(announce(dies)).rejects.toBeDefined();
  await announce(options());
  ends = [];
  await announce(options());
  ends = [broken(1)];
  await announce(options());
  const ids = notices.map((notice) => idOf({ name: "team" }, notice));
  expect(ids).toHaveLength(3);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
});

test("the file of an earlier version says what was told", async () => {
  writeFileSync(join(home, "announced.json"), JSON.stringify([broken(1).id]));
  ends = [broken(1), broken(2)];
  await announce(options());
  expect(notices.map(({ text }) => text)).toEqual(["feature_requests/FR-1/AGI-2.md: The ticket cannot start."]);
});

test("while old runs were not looked at yet, nothing of them is news, and nothing that was told is told again", async () => {
  unseen = 300;
  await announce(options());
  [ends, unseen] = [[broken(1)], 0];
  await announce(options());
  expect(notices).toEqual([]);
  [ends, unseen] = [[], 300];
  await announce(options());
  [ends, unseen] = [[broken(1), broken(2)], 0];
  await announce(options());
  expect(notices.map(({ text }) => text)).toEqual(["feature_requests/FR-1/AGI-2.md: The ticket cannot start."]);
});
