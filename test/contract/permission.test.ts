// The real programs ask for permission, and do exactly what they were allowed to do.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createGeminiRunner } from "../../src/runner/gemini/runner.ts";
import { createOpencodeRunner } from "../../src/runner/opencode/runner.ts";
import { judge } from "../../src/runner/permission/judge.ts";
import type { PermissionRequest, Runner } from "../../src/runner/runner.ts";
import { type Bench, openBench } from "./bench.ts";
import { claude, gemini, opencode, type Vendor } from "./vendors.ts";

const leave = (word: string): string => `node -e "require('fs').appendFileSync('ran.txt','${word}')"`;

describe.each<[string, Vendor, () => Runner]>([
  ["claude", claude, createClaudeRunner],
  ["gemini over ACP", gemini, () => createGeminiRunner({ transport: "acp" })],
  ["opencode over ACP", opencode, () => createOpencodeRunner({ transport: "acp" })],
])("%s", { timeout: 120_000 }, (_name, vendor, create) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(vendor, create);
  });
  afterAll(() => bench.close());

  test("permission ask: a yes runs exactly that command, a no is a refusal that is told", async () => {
    const [yes, no] = [leave("yes"), leave("no")];
    bench.play({ ask: [{ do: [{ bash: yes }] }, { do: [{ bash: no }] }, { text: "Done." }] });
    const requests: PermissionRequest[] = [];
    const end = await bench.run({
      prompt: "[ask]",
      options: { permission: "ask" },
      async permit(request) {
        requests.push(request);
        return { allowed: request.what === yes, why: "A person said no." };
      },
    });
    expect(requests.map(({ kind, what }) => ({ kind, what }))).toEqual([
      { kind: "command", what: yes },
      { kind: "command", what: no },
    ]);
    const ran = join(end.spec.cwd, "ran.txt");
    expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("yes");
    expect(end.conversation?.denials).toEqual([expect.stringContaining("'no'")]);
  });
});

test("permission edit: Claude Code's rm -rf outside of its workspace is refused, inside it runs", {
  timeout: 120_000,
}, async () => {
  const bench = await openBench(claude, createClaudeRunner);
  try {
    const precious = join(bench.folder, "precious");
    mkdirSync(precious);
    const cwd = bench.workspace();
    mkdirSync(join(cwd, "build"));
    bench.play({
      clean: [{ do: [{ bash: `rm -rf ${precious}` }] }, { do: [{ bash: "rm -rf build" }] }, { text: "Done." }],
    });
    const rules = {
      cwd,
      folders: [cwd],
      home: "/home/nobody",
      temporary: "/var/tmp",
      isConfined: false,
      denyTools: [],
    };
    const end = await bench.run({
      prompt: "[clean]",
      overrides: { cwd },
      permit: async (request) => {
        const judged = judge(request, { ...rules, permission: "edit" });
        return judged.type === "allow" ? { allowed: true, why: "" } : { allowed: false, why: judged.why };
      },
    });
    expect([existsSync(precious), existsSync(join(cwd, "build"))]).toEqual([true, false]);
    expect(end.conversation?.denials).toEqual([expect.stringContaining(precious)]);
    // It is for the program, not for its model.
    expect(JSON.stringify(bench.asked("clean").at(-1)?.body)).not.toContain("mcp__passrail__permit");
  } finally {
    await bench.close();
  }
});
