// What of the user's own set-up of Claude Code reaches an agent: skills and hooks unless the user leaves them out, MCP servers only where the
// user lets agents have them. The scripted model sees what it is offered.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { UserFeature } from "../../src/core/flow/runner-names.ts";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createDesk } from "../../src/runner/desk/server.ts";
import { openBench } from "./bench.ts";
import { contractTests } from "./installed.ts";
import { claude } from "./vendors.ts";

test.skipIf(contractTests() === "left out")(
  "Claude Code gets the user's skills, hooks and MCP servers as the user chose, and never those of the repository",
  { timeout: 120_000 },
  async () => {
    const bench = await openBench(claude, createClaudeRunner);
    const desk = createDesk();
    try {
      // A desk is an MCP server like any other.
      const asked: string[] = [];
      const server = await desk.open({
        verdictSchema: null,
        mayAsk: true,
        submit: async () => ({ accepted: false, text: "" }),
        ask: async ({ question }) => ({ accepted: true, goesOn: true, text: `heard ${asked.push(question)}` }),
      });
      const entry = { type: "http", url: server.url, headers: { Authorization: `Bearer ${server.token}` } };
      const home = join(bench.folder, "home-1");
      const hooked = join(bench.folder, "hooked");
      mkdirSync(join(home, ".claude/skills/knit"), { recursive: true });
      writeFileSync(join(home, ".claude.json"), JSON.stringify({ mcpServers: { mine: entry } }));
      writeFileSync(
        join(home, ".claude/skills/knit/SKILL.md"),
        "---\nname: knit\ndescription: The very own skill of the user\n---\nKnit.\n",
      );
      const hook = { hooks: [{ type: "command", command: `touch ${hooked}` }] };
      writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks: { SessionStart: [hook] } }));
      const cwd = bench.workspace();
      writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { theirs: entry } }));

      const seen = async (name: string, userFeatures?: readonly UserFeature[]) => {
        rmSync(hooked, { force: true });
        const ask = { mcp: { server: "mine", tool: "ask_human", args: { question: name } } };
        bench.play({
          [name]: [{ do: userFeatures?.includes("mcp") === true ? [ask] : [], text: "Look." }, { text: "Done." }],
        });
        const agent = userFeatures === undefined ? {} : { userFeatures };
        const end = await bench.run({ prompt: `[${name}]`, agent, overrides: { cwd } });
        expect(end.conversation?.failure).toBeNull();
        const told = JSON.stringify(bench.asked(name).map(({ body }) => body));
        expect(told).not.toContain("mcp__theirs");
        return {
          skill: told.includes("The very own skill of the user"),
          hook: existsSync(hooked),
          server: told.includes("mcp__mine__ask_human"),
        };
      };
      expect(await seen("unsaid")).toEqual({ skill: true, hook: true, server: false });
      expect(await seen("nothing", [])).toEqual({ skill: false, hook: false, server: false });
      expect(await seen("everything", ["skills", "hooks", "mcp"])).toEqual({ skill: true, hook: true, server: true });
      expect(asked).toEqual(["everything"]);
    } finally {
      await desk.close();
      await bench.close();
    }
  },
);
