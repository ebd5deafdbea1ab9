// Source 002's cache discipline at the vendor's request: what the real CLIs send when a role works again, read from the recorded requests.

import { beforeAll, describe, expect, test } from "vitest";
import { contractTests } from "./installed.ts";
import { type Played, playIterations, standingOf } from "./repeated-requests.ts";
import { claude, codex } from "./vendors.ts";

const leftOut = contractTests() === "left out";
describe.skipIf(leftOut).each([claude, codex])(
  "what a later iteration of $cli repeats",
  { timeout: 240_000 },
  (vendor) => {
    let played: Played;
    beforeAll(async () => {
      played = await playIterations(vendor);
    }, 240_000);

    test("R-002-49, R-002-51: the standing part of each role comes again, byte for byte, where a cache can have it", () => {
      const { repeated, recorded } = played;
      const names = ["dev", "dod", "review"].flatMap((role) => [`${role} 1→2`, `${role} 2→3`]);
      expect(repeated.map(({ name }) => name)).toEqual(names);
      for (const { name, standing, inCachedBlock, cacheRead } of repeated) {
        expect([name, standing]).toEqual([name, 1]);
        // Claude Code marks blocks for the cache: ours ends before a mark that is not the one of the newest message.
        expect([name, inCachedBlock]).toEqual([name, vendor === claude ? true : null]);
        expect([name, cacheRead > 0.7]).toEqual([name, true]);
      }
      // What the vendor says it read from its cache is recorded with every attempt.
      expect(recorded.length).toBe(9);
      expect(recorded.every((tokens) => tokens !== null && tokens > 0)).toBe(true);
    });

    test("R-002-48: the record has the whole prompt in its order; the model gets its beginning as a system prompt and the rest as the message", () => {
      const last = played.prompts["review-3"] ?? "";
      const standing = standingOf(last);
      for (const part of [
        "# Reviewer",
        "Every account has one owner",
        "Close accounts by a request.",
        "## Constraints",
      ])
        expect(standing).toContain(part);
      const { system, entries } = lastReview(played);
      expect(system).toContain(standing);
      const said = saidIn(entries);
      expect(said).toContain("## Handoff from ");
      expect(said).toContain("## How to end");
      expect(said).not.toContain("Every account has one owner");
    });

    test("R-002-50: no nonce, token, channel or state of the repository is in the system prompt", () => {
      expect(played.requests.length).toBe(9);
      for (const { conversation } of played.requests) {
        const said = saidIn(conversation.entries);
        const nonce = /`nonce`: `([^`]+)`/u.exec(said)?.[1] ?? "";
        expect(nonce).not.toBe("");
        const standing = conversation.system.slice(conversation.system.indexOf("# "));
        expect(standing).not.toContain(nonce);
        expect(standing).not.toMatch(/pr_at_|gitStatus/u);
        expect(said).not.toContain("gitStatus");
        if (vendor === claude) expect(conversation.system).not.toMatch(/channels\//u);
      }
    });
  },
);

const lastReview = ({ requests }: Played) => {
  const found = requests.findLast(({ rule }) => rule === "review");
  if (found === undefined) throw new Error("nobody reviewed");
  return found.conversation;
};

const saidIn = (entries: Played["requests"][number]["conversation"]["entries"]): string =>
  entries.map((entry) => (entry.role === "user" ? entry.text : "")).join("\n");
