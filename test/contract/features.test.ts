// What of the user's own set-up of a program reaches an agent: skills, hooks and MCP servers as the user chose, never the repository's; and
// that the effort that was asked for reaches the model. The scripted models see what they are offered.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { optional } from "../../src/core/optional.ts";
import type { UserFeature } from "../../src/core/flow/runner-names.ts";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { createDesk } from "../../src/runner/desk/server.ts";
import { createGeminiRunner } from "../../src/runner/gemini/runner.ts";
import { createOpencodeRunner } from "../../src/runner/opencode/runner.ts";
import type { Runner } from "../../src/runner/runner.ts";
import { openBench } from "./bench.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, type Vendor } from "./vendors.ts";

type Server = { readonly url: string; readonly token: string };
type Place = { readonly home: string; readonly server: Server; readonly hooked: string };

type Features = {
  readonly vendor: Vendor;
  readonly create: () => Runner;
  /** Files below the user's home, by path: a server `mine` and a hook that makes the file `hooked`. */
  readonly files: (place: Place) => Readonly<Record<string, string | object>>;
  readonly skills: string;
  /** Whether the user's hooks run at all; Codex trusts none that its own dialog has not shown. */
  readonly hooks: boolean;
  /** Without a choice. */
  readonly usual: { readonly skill: boolean; readonly hook: boolean; readonly server: boolean };
  /** How a request says that the model shall think hard; null: the program has nothing for it and says so. */
  readonly effort: RegExp | null;
  /** One that knows efforts, where the usual one does not. */
  readonly model?: string;
};

const bearer = ({ token }: Server) => ({ Authorization: `Bearer ${token}` });
const touches = (hooked: string) => ({ hooks: [{ type: "command", command: `touch ${hooked}` }] });

const VENDORS: readonly Features[] = [
  {
    vendor: claude,
    create: createClaudeRunner,
    files: ({ server, hooked }) => ({
      ".claude.json": { mcpServers: { mine: { type: "http", url: server.url, headers: bearer(server) } } },
      ".claude/settings.json": { hooks: { SessionStart: [touches(hooked)] } },
    }),
    skills: ".claude/skills",
    hooks: true,
    usual: { skill: true, hook: true, server: false },
    effort: /"effort":"high"/,
    model: "claude-opus-4-5",
  },
  {
    vendor: codex,
    create: createCodexRunner,
    files: ({ server }) => ({
      ".codex/config.toml": `\n[mcp_servers.mine]\nurl = "${server.url}"\nhttp_headers = { Authorization = "Bearer ${server.token}" }\ndefault_tools_approval_mode = "approve"\n`,
    }),
    skills: ".codex/skills",
    hooks: false,
    usual: { skill: true, hook: false, server: true },
    effort: /"effort":"high"/,
  },
  {
    vendor: gemini,
    create: () => createGeminiRunner({ transport: "native" }),
    files: ({ server, hooked }) => ({
      ".gemini/settings.json": {
        mcpServers: { mine: { httpUrl: server.url, headers: bearer(server), trust: true } },
        hooks: { SessionStart: [touches(hooked)] },
      },
    }),
    skills: ".gemini/skills",
    hooks: true,
    usual: { skill: true, hook: true, server: true },
    effort: null,
  },
  {
    vendor: opencode,
    create: () => createOpencodeRunner({ transport: "native" }),
    files: ({ server, hooked }) => ({
      // One of several files that it reads; as people write them.
      ".config/opencode/opencode.jsonc": `{ // mine\n "mcp": { "mine": ${JSON.stringify({ type: "remote", url: server.url, headers: bearer(server), enabled: true })}, },
        "provider": { "scripted": { "models": { "scripted-model": { "reasoning": true } } } }, }`,
      ".config/opencode/plugin/mine.js": `require("node:fs").writeFileSync(${JSON.stringify(hooked)}, "");\nexport const Mine = async () => ({});\n`,
    }),
    skills: ".config/opencode/skill",
    hooks: true,
    usual: { skill: true, hook: true, server: true },
    effort: /"reasoning_?[eE]ffort":"high"/,
  },
];

test.skipIf(contractTests() === "left out").each(VENDORS)(
  "$vendor.cli gets the user's skills, hooks and MCP servers as the user chose, and the effort",
  { timeout: 180_000 },
  async ({ vendor, create, files, skills, hooks, usual, effort, model }) => {
    const bench = await openBench(vendor, create);
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
      const home = join(bench.folder, "home-1");
      const hooked = join(bench.folder, "hooked");
      for (const [path, content] of Object.entries(files({ home, server, hooked }))) put(home, path, content);
      put(
        home,
        `${skills}/knit/SKILL.md`,
        "---\nname: knit\ndescription: The very own skill of the user\n---\nKnit.\n",
      );
      const cwd = bench.workspace();
      const theirs = { type: "http", url: server.url, headers: bearer(server) };
      writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { theirs } }));

      const seen = async (name: string, userFeatures?: readonly UserFeature[]) => {
        rmSync(hooked, { force: true });
        const ask = { mcp: { server: "mine", tool: "ask_human", args: { question: name } } };
        const calls = userFeatures?.includes("mcp") === true ? [ask] : [];
        bench.play({ [name]: [{ do: calls, text: "Look." }, { text: "Done." }] });
        const agent = userFeatures === undefined ? {} : { userFeatures };
        const end = await bench.run({
          prompt: `[${name}]`,
          agent,
          options: { effort: "high", ...optional({ model }) },
          overrides: { cwd },
        });
        expect(end.conversation?.failure).toBeNull();
        const told = JSON.stringify(bench.asked(name).map(({ body }) => body));
        expect(told).not.toContain("theirs_ask_human");
        // Not with `toMatch`: nobody reads whole requests in a report.
        const isToldOfEffort = effort?.test(told) ?? JSON.stringify(end.events).includes("has nothing for effort");
        expect(isToldOfEffort, "the effort reaches the model, or the attempt says that it does not").toBe(true);
        return {
          skill: told.includes("The very own skill of the user"),
          hook: existsSync(hooked),
          server: told.includes("ask_human"),
        };
      };
      // The programs that start slowly show the two ends only.
      if (vendor.readyMs <= 6_000) expect(await seen("unsaid")).toEqual(usual);
      expect(await seen("nothing", [])).toEqual({ skill: false, hook: false, server: false });
      expect(await seen("everything", ["skills", "hooks", "mcp"])).toEqual({ skill: true, hook: hooks, server: true });
      expect(asked).toEqual(["everything"]);
    } finally {
      await desk.close();
      await bench.close();
    }
  },
);

/** Beside what the file has already. */
function put(home: string, path: string, content: string | object): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const merged =
    typeof content === "string" ? before + content : { ...(JSON.parse(before || "{}") as object), ...content };
  writeFileSync(file, typeof merged === "string" ? merged : JSON.stringify(merged));
}
