// The handoffs of the stages before, read by the real agent CLIs with their own tools, with the permission of a judge and of a builder.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { createGeminiRunner } from "../../src/runner/gemini/runner.ts";
import { createOpencodeRunner } from "../../src/runner/opencode/runner.ts";
import { openBench, transcript } from "./bench.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";

const SAID = "Passed on by the stage before: 7f3a.";

describe.skipIf(contractTests() === "left out")("handoffs", { timeout: 400_000 }, () => {
  test.each([
    { way: "claude", vendor: claude, create: createClaudeRunner },
    { way: "codex", vendor: codex, create: createCodexRunner },
    { way: "gemini", vendor: gemini, create: () => createGeminiRunner({ transport: "native" }) },
    { way: "gemini (acp)", vendor: gemini, create: () => createGeminiRunner({ transport: "acp" }) },
    { way: "opencode", vendor: opencode, create: () => createOpencodeRunner({ transport: "native" }) },
    { way: "opencode (acp)", vendor: opencode, create: () => createOpencodeRunner({ transport: "acp" }) },
  ])("R-002-34: $way reads them where the attempt has them", async ({ vendor, create }) => {
    const bench = await openBench(vendor, create);
    try {
      const folder = join(bench.folder, "channel", "handoffs");
      mkdirSync(folder, { recursive: true });
      const file = join(folder, "dev-1.md");
      writeFileSync(file, `## Status\n\ncomplete\n\n${SAID}\n`, { mode: 0o400 });
      // Codex' model has only its shell, in a sandbox; the others use their tool.
      bench.play({ reads: [{ do: [{ read: file }] }, { text: "Read." }] });
      for (const permission of ["read", "edit"] as const) {
        const end = await bench.run({ prompt: "[reads]", options: { permission }, agent: { reads: [folder] } });
        expect([permission, end.conversation?.denials ?? []]).toEqual([permission, []]);
        const last = bench.asked("reads").at(-1);
        expect([permission, last === undefined ? "" : transcript(last)]).toEqual([
          permission,
          expect.stringContaining(SAID),
        ]);
      }
      // These two open no folder that they were not given.
      if (vendor === claude || vendor === codex) return;
      await bench.run({ prompt: "[reads] again", options: { permission: "read" } });
      const last = bench.asked("reads").at(-1);
      expect(last === undefined ? SAID : transcript(last)).not.toContain(SAID);
    } finally {
      await bench.close();
    }
  });
});
