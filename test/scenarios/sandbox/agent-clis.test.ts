// The real agent CLIs inside bubblewrap, against scripted models: they find their login and their settings, act in the clone, hand their
// verdict in, go on with a session, and see nothing else.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClaudeRunner } from "../../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../../src/runner/codex/runner.ts";
import { createGeminiRunner } from "../../../src/runner/gemini/runner.ts";
import { createOpencodeRunner } from "../../../src/runner/opencode/runner.ts";
import type { AttemptSpec, Session } from "../../../src/runner/runner.ts";
import { openBench } from "../../contract/bench.ts";
import { contractTests } from "../../contract/installed.ts";
import { claude, codex, gemini, opencode } from "../../contract/vendors.ts";
import { openConfined, SECRET } from "./bench.ts";
import { removeTempDirs } from "../../../src/workspace/workspace.testsuite.ts";
import { bubblewrapTests, whyLeftOut } from "./can-confine.ts";
import { optional } from "../../../src/core/optional.ts";

const leftOut = bubblewrapTests === "left out" || contractTests() === "left out";

describe.skipIf(leftOut)(`agent CLIs in bubblewrap${whyLeftOut}`, { timeout: 180_000 }, () => {
  // Codex makes no sandbox of its own (here: inside of ours) when its home lies in /tmp.
  beforeAll(() => void vi.stubEnv("TMPDIR", "/var/tmp"));
  afterAll(() => void vi.unstubAllEnvs());

  test.each([
    [claude, createClaudeRunner],
    [codex, createCodexRunner],
    [gemini, () => createGeminiRunner({ transport: "native" })],
    [opencode, () => createOpencodeRunner({ transport: "native" })],
  ])(
    "$cli works in the clone, submits at the desk, goes on with its session, and is alone there",
    async (vendor, create) => {
      // Where it would look for packages, nobody answers: see vendors.ts.
      const read = vendor === opencode ? ["~/.npmrc"] : [];
      const confined = await openConfined("bubblewrap", { bubblewrap: { read } });
      const bench = await openBench(vendor, create);
      try {
        const workspace = await confined.open();
        const secret = join(confined.userHome, ".ssh/id_ed25519");
        const scratch = join(confined.home, "scratch");
        mkdirSync(scratch, { recursive: true });
        writeFileSync(join(confined.home, "token"), SECRET);
        const submitted: string[] = [];
        bench.play({
          work: [
            { do: [{ bash: `cat ${secret} ${confined.home}/token > stolen.txt; echo worked > worked.txt` }] },
            {
              do: [
                { mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVED", summary: "fine" } } },
              ],
            },
            { text: "Done." },
          ],
          more: [{ do: [{ bash: "echo more >> worked.txt" }] }, { text: "Done again." }],
        });
        const confine: AttemptSpec["confine"] = async (launch) => {
          const put = await confined.workspaces.confine?.(workspace, { ...launch, folders: [scratch] });
          return put ?? { ok: false, error: { code: "none", message: "not confined" } };
        };
        const say = (prompt: string, session?: Session) =>
          bench.run({
            prompt,
            ...optional({ session }),
            // It refuses commands with a path outside by itself; that is not what is tried here.
            ...(vendor === opencode ? { options: { permission: "full" as const } } : {}),
            agent: { scratch },
            overrides: { cwd: workspace.dir, confine },
            submit: async (text) => {
              submitted.push(text);
              return { accepted: true, text: "Recorded." };
            },
          });
        const first = await say("[work]");
        expect(first).toMatchObject({
          reason: expect.stringMatching(/exited|finished/u),
          conversation: { failure: null },
        });
        expect(readFileSync(join(workspace.dir, "worked.txt"), "utf8")).toBe("worked\n");
        expect(readFileSync(join(workspace.dir, "stolen.txt"), "utf8")).toBe("");
        expect(submitted).toHaveLength(1);
        const { session } = first.conversation ?? { session: null };
        const second = await say("[more]", session ?? undefined);
        expect(second).toMatchObject({ conversation: { failure: null, session: { id: session?.id } } });
        expect(readFileSync(join(workspace.dir, "worked.txt"), "utf8")).toBe("worked\nmore\n");
        expect(bench.leftovers()).toEqual([]);
      } finally {
        await bench.close();
        await removeTempDirs();
      }
    },
  );
});
