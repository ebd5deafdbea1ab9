// The rules for every forge, on real repositories: it overwrites no commits of others, every call can be repeated, and only verified
// commits count.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Forge } from "./forge.ts";

export type ForgeBench = {
  readonly forge: Forge;
  /** Whether the forge is separate from the repository itself. */
  readonly isElsewhere: boolean;
  /** A commit on a branch of the project. */
  commit(branch: string, files: Readonly<Record<string, string>>, from?: string): string;
  /** Another person's commit, in the forge's repository. */
  somebody(branch: string, files: Readonly<Record<string, string>>): string;
  /** The newest commit of a branch in the forge's repository; "" if there is none. */
  tip(branch: string): string;
  /** A person merges the branch into main, as a merge commit. */
  merge(branch: string): string;
  /** Hooks and programs in the project that must never be started. */
  plant(): void;
  traces(): readonly string[];
  close(): Promise<void>;
};

const TEXT = { title: "AGI-1: do it", body: "done" };

export function forgeTestsuite(name: string, open: () => Promise<ForgeBench>): void {
  describe(name, () => {
    let bench: ForgeBench;
    beforeEach(async () => {
      bench = await open();
    });
    afterEach(() => bench.close());

    test("the default target is found", async () => {
      expect(await bench.forge.defaultTarget()).toEqual({ ok: true, value: "main" });
    });

    test("R-004-46: a pushed branch holds the commit there, however often it is pushed", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      for (let time = 0; time < 2; time++)
        expect(await bench.forge.push({ branch: "feat/AGI-1", commit })).toEqual({ ok: true, value: null });
      expect(bench.tip("feat/AGI-1")).toBe(commit);
      expect(await bench.forge.contains("feat/AGI-1", commit)).toEqual({ ok: true, value: true });
      const more = bench.commit("feat/AGI-1", { "b.txt": "2" });
      expect(await bench.forge.push({ branch: "feat/AGI-1", commit: more })).toMatchObject({ ok: true });
      expect(bench.tip("feat/AGI-1")).toBe(more);
    });

    test("what somebody else put on the branch is never overwritten", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      if (!bench.isElsewhere) return;
      const theirs = bench.somebody("feat/AGI-1", { "theirs.txt": "x" });
      expect(await bench.forge.push({ branch: "feat/AGI-1", commit })).toMatchObject({
        ok: false,
        error: { code: "branch_diverged", hint: expect.any(String) },
      });
      expect(bench.tip("feat/AGI-1")).toBe(theirs);
    });

    test("a branch that was rewritten here replaces our own earlier push", async () => {
      const first = bench.commit("feat/AGI-1", { "a.txt": "1" });
      expect(await bench.forge.push({ branch: "feat/AGI-1", commit: first })).toMatchObject({ ok: true });
      const second = bench.commit("feat/AGI-1", { "a.txt": "2" }, `${first}~1`);
      expect(await bench.forge.push({ branch: "feat/AGI-1", commit: second })).toMatchObject({ ok: true });
      expect(bench.tip("feat/AGI-1")).toBe(second);
    });

    test("a proposal is open until the target holds the commit", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      const work = { branch: "feat/AGI-1", commit, target: "main", ...TEXT };
      const request = await bench.forge.propose(work);
      if (!request.ok) throw new Error(request.error.message);
      expect(request.value).toMatchObject({ branch: "feat/AGI-1", target: "main", commit });
      expect(await bench.forge.propose(work)).toEqual(request);
      expect(await bench.forge.look(request.value)).toMatchObject({ ok: true, value: { state: "open" } });
      bench.merge("feat/AGI-1");
      const seen = await bench.forge.look(request.value);
      if (!seen.ok || seen.value.state !== "merged") throw new Error(JSON.stringify(seen));
      expect(await bench.forge.contains("main", seen.value.commit)).toEqual({ ok: true, value: true });
      expect(await bench.forge.keep(seen.value.commit)).toMatchObject({ ok: true });
    });

    test("work lands only on top of what the target was seen at", async () => {
      const before = bench.tip("main");
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      const theirs = bench.somebody("main", { "theirs.txt": "x" });
      const land = (expected: string) => bench.forge.land({ commit, target: "main", expect: expected });
      expect(await land(before)).toMatchObject({ ok: false, error: { code: "target_moved" } });
      expect(await land(theirs)).toMatchObject({ ok: false, error: { code: "target_moved" } });
      expect(bench.tip("main")).toBe(theirs);
    });

    test("work that is on top of the target lands, and is seen there", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      expect(await bench.forge.land({ commit, target: "main", expect: bench.tip("main") })).toEqual({
        ok: true,
        value: null,
      });
      expect(bench.tip("main")).toBe(commit);
      expect(await bench.forge.head("main")).toEqual({ ok: true, value: commit });
    });

    test("what is not there is not there", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      expect(await bench.forge.head("feat/none")).toEqual({ ok: true, value: null });
      expect(await bench.forge.contains("feat/none", commit)).toEqual({ ok: true, value: false });
      expect(await bench.forge.contains("main", commit)).toEqual({ ok: true, value: false });
      expect(await bench.forge.contains("main", "0".repeat(40))).toEqual({ ok: true, value: false });
    });

    test.each([
      "--force",
      "-x",
      "feat/$(id)",
      "a b",
      "feat/../main",
      "HEAD",
      "refs/heads/main",
      "a:b",
      "feat/x\nmain",
      "",
    ])("S11: the branch name %j is refused before git sees it", async (branch) => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      const before = bench.tip("main");
      expect(await bench.forge.push({ branch, commit })).toMatchObject({ ok: false });
      expect(await bench.forge.head(branch)).toMatchObject({ ok: false });
      expect(await bench.forge.land({ commit, target: branch, expect: before })).toMatchObject({ ok: false });
      expect(await bench.forge.propose({ branch, commit, target: "main", ...TEXT })).toMatchObject({ ok: false });
      expect(bench.tip("main")).toBe(before);
    });

    test("S11: hooks, filters and programs that the project brings are never started", async () => {
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      bench.plant();
      expect(await bench.forge.push({ branch: "feat/AGI-1", commit })).toMatchObject({ ok: true });
      const request = await bench.forge.propose({ branch: "feat/AGI-1", commit, target: "main", ...TEXT });
      if (!request.ok) throw new Error(request.error.message);
      await bench.forge.look(request.value);
      expect(await bench.forge.land({ commit, target: "main", expect: bench.tip("main") })).toMatchObject({ ok: true });
      await bench.forge.keep(commit);
      expect(bench.tip("main")).toBe(commit);
      expect(bench.traces()).toEqual([]);
    });

    test("a branch that has moved is not removed", async () => {
      if (!bench.isElsewhere) return;
      const commit = bench.commit("feat/AGI-1", { "a.txt": "1" });
      await bench.forge.push({ branch: "feat/AGI-1", commit });
      const theirs = bench.somebody("feat/AGI-1", { "b.txt": "2" });
      expect(await bench.forge.removeBranch({ branch: "feat/AGI-1", commit })).toMatchObject({ ok: true });
      expect(bench.tip("feat/AGI-1")).toBe(theirs);
      expect(await bench.forge.removeBranch({ branch: "feat/AGI-1", commit: theirs })).toMatchObject({ ok: true });
      expect(bench.tip("feat/AGI-1")).toBe("");
      expect(await bench.forge.removeBranch({ branch: "feat/AGI-1", commit: theirs })).toMatchObject({ ok: true });
    });
  });
}
