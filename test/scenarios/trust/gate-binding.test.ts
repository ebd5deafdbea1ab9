// A decision is stored for what the person looked at, or not at all: no moment in which A is approved and B recorded, through no door.

import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AnswerRequest, answerItem, type Answering } from "../../../src/app/answer-item.ts";
import { commitOf } from "../../../src/app/commit-of.ts";
import { itemVersion, type Seen } from "../../../src/app/item-version.ts";
import { branchOf } from "../../../src/core/run/branch.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
let run: Run;
/** The branch's commit, and one on top of it that nobody has looked at. */
let seen: string;
let unseen: string;

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd: bench.project,
    encoding: "utf8",
  }).trim();
const move = (to: string): string => git("update-ref", `refs/heads/${branch}`, to);
let branch: string;

beforeEach(async () => {
  bench = await openWorkbench();
  // The first gate waits for nobody's work. Its branch is made here, and declining starts no agent.
  run = await bench.run("feature", {});
  branch = branchOf(resolveShipped("feature").flow, run);
  git("branch", branch, "main");
  seen = git("rev-parse", branch);
  unseen = git("commit-tree", "-p", seen, "-m", "sneaked in", `${seen}^{tree}`);
});
afterEach(() => bench.close());

const decided = async () => (await bench.events(run.id)).filter(({ type }) => type === "gate.answered");

/** Every kind of word for what was seen; the doors use no other. */
const DOORS: readonly (readonly [string, () => Promise<Seen>])[] = [
  ["API, dashboard and MCP: If-Match", async () => ({ type: "version", version: await versionNow() })],
  ["CLI: --commit", async () => ({ type: "commit", commit: seen.slice(0, 12), orNone: false })],
  ["webhook: commit", async () => ({ type: "commit", commit: seen, orNone: true })],
];

async function versionNow(): Promise<string> {
  const stored = await bench.passrail.store.loadRun(run.id);
  if (stored === undefined) throw new Error("there is no run");
  return itemVersion({ commitOf: async () => seen }, stored);
}

function answering(during: () => unknown): Answering {
  const { engine, store } = bench.passrail;
  return {
    engine,
    store,
    now: () => new Date().toISOString(),
    /** The world moves right after the branch was read: nobody can read it twice and see the same. */
    async commitOf(of) {
      const commit = await commitOf(store, of);
      await during();
      return commit;
    },
  };
}

async function request(seenBy: Seen): Promise<AnswerRequest> {
  const [item] = openItems(await bench.load(run.id));
  const rules = { needsReason: false, maxChars: null };
  return { item: `${run.id}.${item?.number}`, answer: "decline", text: "no", issues: [], seen: seenBy, rules };
}

describe.each(DOORS)("S06: %s", (_, seenBy) => {
  test("a branch that moves after it was read: the commit that was seen is recorded", async () => {
    const asked = await request(await seenBy());
    const answered = await answerItem(
      answering(() => move(unseen)),
      asked,
      { actor: "human:ann" },
    );
    expect(git("rev-parse", branch)).toBe(unseen);
    expect(answered).toMatchObject({ ok: true, value: { type: "answered" } });
    expect(await decided()).toMatchObject([{ commit: seen }]);
  });

  test("a branch that moved before it was read: nothing is recorded", async () => {
    const asked = await request(await seenBy());
    move(unseen);
    const answered = await answerItem(
      answering(() => undefined),
      asked,
      { actor: "human:ann" },
    );
    expect(answered).toMatchObject({ ok: false, error: { code: "version_mismatch" } });
    expect(await decided()).toEqual([]);
  });

  test("the run itself refuses an answer about another commit, whatever its caller compared", async () => {
    const asked = await request(await seenBy());
    const { engine } = bench.passrail;
    const [item] = openItems(await bench.load(run.id));
    const number = item?.number ?? 0;
    const body = { type: "item.answered", number, kind: "gate", answer: "decline", text: "no" } as const;
    const wrong = await engine.deliver(run.id, { ...body, commit: unseen, seenCommit: seen.slice(0, 12) }, "human:ann");
    expect(wrong.ignored).toContain("which was looked at");
    const none = await engine.deliver(run.id, { ...body, commit: unseen, seenCommit: null }, "human:ann");
    expect(none.ignored).toContain("no commit");
    expect(await decided()).toEqual([]);
    expect(asked.item).toContain(run.id);
  });
});

test("S06: an event that voids the decision between its check and its storing does void it", async () => {
  const asked = await request({ type: "version", version: await versionNow() });
  let times = 0;
  // Between the check of the version and the commit of the answer someone else changes the run.
  const edit = async (): Promise<void> => {
    const edited = { type: "ticket.edited", title: "Another wish", body: "" } as const;
    if (++times === 1) await bench.passrail.engine.deliver(run.id, edited, "human:bob");
  };
  const answered = await answerItem(answering(edit), asked, { actor: "human:ann" });
  expect(answered).toMatchObject({ ok: false, error: { code: "version_mismatch" } });
  expect(await decided()).toEqual([]);
});

test("S06: an event beside the point does not void it: the answer is checked again and stored", async () => {
  const asked = await request({ type: "version", version: await versionNow() });
  let times = 0;
  const noise = async (): Promise<void> => {
    if (++times === 1) await bench.passrail.engine.deliver(run.id, { type: "resume.requested" }, "human:bob");
  };
  const answered = await answerItem(answering(noise), asked, { actor: "human:ann" });
  expect(answered).toMatchObject({ ok: true, value: { type: "answered" } });
  expect([times, await decided()]).toMatchObject([2, [{ commit: seen }]]);
});
