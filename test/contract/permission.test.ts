// The real programs ask for permission, and do exactly what they were allowed to do.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { createGeminiRunner } from "../../src/runner/gemini/runner.ts";
import { createOpencodeRunner } from "../../src/runner/opencode/runner.ts";
import { judge } from "../../src/runner/permission/judge.ts";
import type { PermissionRequest, Runner } from "../../src/runner/runner.ts";
import type { ModelRequest } from "../fixtures/models/server.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { until } from "../harness/until.ts";
import { type Bench, openBench, transcript } from "./bench.ts";
import { claude, codex, gemini, opencode, type Vendor } from "./vendors.ts";
import { openWorld, output, stopped, type World } from "./world.ts";

const leave = (word: string): string => `node -e "require('fs').appendFileSync('ran.txt','${word}')"`;

describe.each<[string, Vendor, () => Runner]>([
  ["claude", claude, createClaudeRunner],
  ["codex over its app server", codex, createCodexRunner],
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
        return { allowed: request.what.includes("'yes'"), why: "A person said no." };
      },
    });
    // Codex tells the whole command line, with its shell.
    const exact = (command: string): string =>
      vendor === codex ? `/bin/bash -lc ${JSON.stringify(command)}` : command;
    expect(requests.map(({ kind, what }) => ({ kind, what }))).toEqual([
      { kind: "command", what: exact(yes) },
      { kind: "command", what: exact(no) },
    ]);
    const ran = join(end.spec.cwd, "ran.txt");
    expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("yes");
    expect(end.conversation?.denials).toEqual([expect.stringContaining("'no'")]);
  });
});

test("Codex goes on over its app server in a session that exec began, tells its tokens, and takes a lost session for lost", {
  timeout: 120_000,
}, async () => {
  const bench = await openBench(codex, createCodexRunner);
  try {
    const tokens = { input: 1_000, output: 50, cached: 400 };
    bench.play({
      begin: [{ text: "I have begun.", tokens }],
      more: [{ do: [{ write: { path: "made.txt", content: "made\n" } }] }, { text: "Made.", tokens }],
      lost: [{ text: "I remember nothing." }],
    });
    const first = await bench.run({ prompt: "Begin. [begin]" });
    const session = first.conversation?.session;
    if (session === null || session === undefined) throw new Error("the first attempt left no session");
    const requests: PermissionRequest[] = [];
    const second = await bench.run({
      prompt: "Go on. [more]",
      session,
      options: { permission: "ask" },
      overrides: { cwd: first.spec.cwd },
      async permit(request) {
        requests.push(request);
        return { allowed: true, why: "" };
      },
    });
    const made = join(first.spec.cwd, "made.txt");
    expect(requests).toEqual([{ tool: "apply_patch", kind: "write", what: made, paths: [made] }]);
    expect(readFileSync(made, "utf8")).toBe("made\n");
    expect(second.stdoutTail).toContain("Made.");
    expect(second.conversation).toMatchObject({
      failure: null,
      session: { id: session.id },
      usage: { outputTokens: expect.any(Number), cachedTokens: 400 },
    });
    expect(transcript(bench.asked("more")[0] as ModelRequest)).toContain("I have begun.");
    const lost = await bench.run({
      prompt: "[lost]",
      session: { id: codex.lostSession, totals: null },
      options: { permission: "ask" },
    });
    expect(lost.conversation?.failure).toMatchObject({ kind: "session_lost" });
    expect(bench.asked("lost")).toEqual([]);
  } finally {
    await bench.close();
  }
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

describe("permissions of Codex in the Inbox", () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld("permission");
  });
  afterAll(() => world.close());

  const asked = async () => {
    const store = openForReading(world.home);
    const items = (await store?.inbox()) ?? [];
    store?.close();
    return items;
  };

  test("over kill -9 of the daemon a yes runs exactly that, a no and silence deny, and nothing is started again", {
    timeout: 120_000,
  }, async () => {
    const { models, passrail } = world;
    const verdict = { verdict: "APPROVE", summary: "Done." };
    const print = (word: string) => ({ do: [{ bash: `node -e "console.log('ran ' + '${word}')"` }] });
    const submit = { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: verdict } }] };
    models.play({
      rules: [
        { id: "builder", match: { prompt: "# Builder" }, turns: [print("yes"), print("no"), submit] },
        { id: "scout", match: { prompt: "# Scout" }, turns: [print("silence"), submit] },
      ],
    });
    world.playedBy(codex, {
      agents: { "*": { permission: "ask" } },
      limits: { builder: { permission: "3m" }, scout: { permission: "6s" } },
    });
    const first = await world.up();
    for (const agent of ["builder", "scout"]) {
      const what = ["routed", "Do it", "--input", `input.agent=${agent}`, "--workspace", "worktree"];
      await output(passrail("run", ...what, "--detach"));
    }
    await until("both ask", async () => ((await asked()).length === 2 ? true : undefined), 60_000);
    first.kill("SIGKILL");
    // Nobody answers the scout, and no daemon lives to tell it.
    const denied = () => models.requests.find(({ rule, turn }) => rule === "scout" && turn === 1);
    await until("the scout goes on", denied, 60_000);
    const daemon = await world.up();
    await output(passrail("ask", "answer", "1.1", "--choice", "once"));
    await until("it asks for the next", async () => (await asked()).find(({ item }) => item.number === 2), 60_000);
    await output(passrail("ask", "answer", "1.2", "--choice", "deny"));
    const events = await until(
      "both stages end",
      async () => {
        const all = await world.events();
        return all.filter(({ type }) => type === "stage.finished").length === 2 ? all : undefined;
      },
      60_000,
    );
    await stopped(daemon);
    // What the model hears of its last command.
    const heard = (rule: string, turn: number): string => {
      const { body } = models.requests.find((request) => request.rule === rule && request.turn === turn) ?? {};
      return JSON.stringify((body as { readonly input?: readonly unknown[] } | undefined)?.input?.at(-1));
    };
    expect(heard("builder", 1)).toContain("ran yes");
    for (const refused of [heard("builder", 2), heard("scout", 1)]) expect(refused).toMatch(/reject|denied|declined/u);
    const begun = events.filter(({ type }) => type === "stage.started" || type === "stage.interrupted");
    expect(begun).toHaveLength(2);
    for (const event of events) if (event.type === "stage.finished") expect(event.attempt).toBe(1);
  });
});
