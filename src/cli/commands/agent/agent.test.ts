import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { approveFiles } from "../../../../test/harness/approve-files.ts";
import type { TryResult } from "../../../runner/try.ts";
import type { Detected } from "../../../runner/detect.ts";
import { readSettings } from "../../../settings/settings.ts";
import { err, ok } from "../../../core/result.ts";
import type { Io } from "../../terminal/io.ts";
import { agentTest, playedByConfig, printAgents } from "./agent.ts";

const enclosure = ok("cgroup" as const);

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "passrail-agent-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function ioOf(options: Partial<Io> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    json: false,
    plain: true,
    quiet: false,
    color: false,
    tty: false,
    columns: 120,
    environment: {},
    cwd,
    home: join(cwd, "home"),
    ...options,
  };
  return { io, out, text: () => out.join("\n"), errors: () => err.join("\n") };
}

const MISSING: Detected = { runner: "codex", status: "missing", detail: "", fix: "npm install -g @openai/codex" };
const FOUND: Detected = {
  runner: "claude",
  status: "found",
  path: "/usr/bin/claude",
  version: "2.1.325",
  login: { state: "yes", evidence: "ANTHROPIC_API_KEY is set" },
  fix: "",
};
const nobody = (): string => "";

describe("agent list", () => {
  test("a line for each runner, then one for each agent", () => {
    const { io, out, errors } = ioOf();
    expect(printAgents(io, { runners: [FOUND, MISSING], playedBy: () => "claude, opus", enclosure })).toBe(0);
    expect(out.slice(0, 3)).toEqual([
      "claude\t2.1.325\tlogged in (ANTHROPIC_API_KEY is set)\t/usr/bin/claude\t",
      "codex\tnot installed\t\t\tnpm install -g @openai/codex",
      "",
    ]);
    expect(out).toContainEqual(expect.stringMatching(/^builder\tshipped\tclaude, opus\t/u));
    expect(errors().trim()).toBe(
      "processes without a sandbox are held by a cgroup: all of them end with their attempt",
    );
  });

  test("R-X-05: an enclosure that was chosen and cannot be had is said before anything starts", () => {
    const { io, errors } = ioOf();
    printAgents(io, { runners: [FOUND], playedBy: nobody, enclosure: err("no cgroup can be made here: EROFS") });
    expect(errors()).toContain("no program starts: no cgroup can be made here: EROFS (attempts.enclosure)");
  });

  test("on a terminal what is to be done is not cut off by where the program is", () => {
    const { io, out } = ioOf({ plain: false, columns: 100 });
    const broken: Detected = {
      ...FOUND,
      login: { state: "no", evidence: "claude auth status" },
      fix: "run claude once and log in",
    };
    printAgents(io, { runners: [broken, MISSING], playedBy: nobody, enclosure });
    expect(out[0]).toContain("run claude once and log in");
    expect(out[0]).not.toContain("/usr/bin/claude");
  });

  test("with --json one document, with --quiet the names of the agents", () => {
    const json = ioOf({ json: true });
    printAgents(json.io, { runners: [FOUND, MISSING], playedBy: nobody, enclosure });
    expect(JSON.parse(json.text())).toMatchObject({
      runners: [FOUND, MISSING],
      agents: expect.arrayContaining([expect.objectContaining({ name: "builder", origin: "shipped", playedBy: "" })]),
    });
    const quiet = ioOf({ quiet: true });
    printAgents(quiet.io, { runners: [], playedBy: nobody, enclosure });
    expect(quiet.out).toContain("builder");
    expect(quiet.out.every((line) => /^[a-z0-9-]+$/u.test(line))).toBe(true);
  });

  test("where nothing is installed or nobody plays, the next step is said", () => {
    const none = ioOf();
    expect(printAgents(none.io, { runners: [MISSING], playedBy: nobody, enclosure })).toBe(0);
    expect(none.errors()).toContain("No coding agent is installed.");
    expect(none.errors()).toContain("passrail demo needs nothing");
    const unused = ioOf();
    printAgents(unused.io, { runners: [FOUND], playedBy: nobody, enclosure });
    expect(unused.errors()).toContain("runner: claude in passrail.yaml");
  });

  test("S16: what a program says of itself cannot move the cursor", () => {
    const { io, text } = ioOf();
    printAgents(io, { runners: [{ ...FOUND, version: "1\u001b[2J\u0007\u202e\n2" }], playedBy: nobody, enclosure });
    for (const character of ["\u001b", "\u0007", "\u202e"]) expect(text()).not.toContain(character);
  });

  test("agents of the project are there, and a file that cannot be read is named", () => {
    mkdirSync(join(cwd, ".passrail/agents"), { recursive: true });
    writeFileSync(join(cwd, ".passrail/agents/mine.md"), "---\nname: mine\ndescription: My own.\n---\nWork.");
    writeFileSync(join(cwd, ".passrail/agents/bad.md"), "---\nname: bad\n---\n");
    approveFiles(join(cwd, "home"), cwd);
    const { io, out, errors } = ioOf();
    printAgents(io, { runners: [FOUND], playedBy: nobody, enclosure });
    expect(out).toContain("mine\tproject\tnone yet\tMy own.");
    expect(errors()).toContain("bad.md");
  });
});

test("who plays an agent: the settings for it, for all, its file, the default", () => {
  const read = readSettings({
    environment: {},
    project: {
      runner: "gemini",
      agents: { reviewer: { runner: "codex", model: "gpt-x" }, tester: { command: ["./test.sh", "--token", "x"] } },
    },
    user: undefined,
    flags: {},
  });
  if (!read.ok) throw new Error(read.error.message);
  const playedBy = playedByConfig(read.value);
  const agent = { description: "", skills: [], prompt: "", file: "", origin: "shipped" as const, model: "opus" };
  expect(playedBy({ ...agent, name: "reviewer" })).toBe("codex, gpt-x");
  expect(playedBy({ ...agent, name: "tester" })).toBe("command ./test.sh");
  expect(playedBy({ ...agent, name: "own", options: { runner: "claude" } })).toBe("claude, opus");
  expect(playedBy({ ...agent, name: "other" })).toBe("gemini");
});

describe("agent test", () => {
  const PASSED: TryResult = {
    ok: true,
    steps: [
      { name: "started", ok: true, detail: "claude-x, version 2" },
      { name: "answered", ok: true, detail: "" },
    ],
    durationMs: 1234,
    usage: { usd: 0.0123, inputTokens: 1000, outputTokens: 20, cachedTokens: null },
  };

  test("each step on a line, then the time and the cost, and 0", async () => {
    const { io, out } = ioOf();
    expect(await agentTest(io, "claude", async () => ok(PASSED))).toBe(0);
    expect(out).toEqual(["✓ started: claude-x, version 2", "✓ answered", "claude works, 1s, $0.0123, 1020 tokens"]);
  });

  test("a step that failed says why, an unknown cost is called unknown, and 1", async () => {
    const { io, out } = ioOf();
    const steps = [{ name: "answered", ok: false, detail: "Not logged in.\u001b[2J\nRun claude once." }];
    expect(await agentTest(io, "claude", async () => ok({ ok: false, steps, durationMs: 5, usage: null }))).toBe(1);
    expect(out[0]).toBe("✖ answered: Not logged in.");
    expect(out.slice(1)).toEqual(["    Run claude once.", "claude does not work yet, 5ms, cost unknown"]);
  });

  test("with --json one document", async () => {
    const { io, text, errors } = ioOf({ json: true });
    await agentTest(io, "codex", async (runner) => ok({ ...PASSED, steps: [{ name: runner, ok: true, detail: "" }] }));
    expect(JSON.parse(text())).toMatchObject({
      runner: "codex",
      ok: true,
      steps: [{ name: "codex" }],
      durationMs: 1234,
    });
    expect(errors()).toBe("");
  });
});
