// What a vendor's real CLI and our runner for it must do together, against scripted models. Vendors differ in what they tell; that is
// said in `Contract`. What only one vendor has is in that vendor's own file.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { createStreamRedactor } from "../../src/runner/process/redactor.ts";
import { expectWork, runnerSuite, type Scene, SPEECH, sceneMark, withLeak } from "../../src/runner/runner.testsuite.ts";
import type { AttemptSpec, FAILURES, Runner, Session } from "../../src/runner/runner.ts";
import { createRedaction } from "../../src/core/secrets/redaction.ts";
import type { Usage } from "../../src/core/budget/usage.ts";
import type { Script } from "../fixtures/models/scenario.ts";
import { until } from "../harness/until.ts";
import { API_KEY, type Bench, openBench, transcript, untilAsked, VERDICT_SCHEMA } from "./bench.ts";
import type { Vendor } from "./vendors.ts";

export type Tokens = { readonly input: number; readonly output: number; readonly cached: number };

export type Contract = {
  readonly vendor: Vendor;
  /** Besides the vendor's name, where it has several ways. */
  readonly way?: string;
  readonly create: () => Runner;
  /** What is told of an attempt that used these tokens: the first of a session without tools, or one that goes on and uses a tool. */
  readonly usage: (tokens: Tokens, which: "first" | "resumed") => Usage;
  readonly failures: {
    /** A server that fails for ever. */
    readonly outage: (typeof FAILURES)[number];
    /**
     * How the provider refuses a request for some seconds, and what is told of it; `ends`: whether its end reaches us. One of two seconds
     * is in upgraded.test.ts, those that the vendor's own words tell are in limits.test.ts.
     */
    readonly limits: readonly VendorLimit[];
  };
  /** Whether its output begins with its prompt. */
  readonly echoes: boolean;
  /** Whether its own tools also open a folder that it was not given. */
  readonly readsElsewhere: boolean;
  /** Whether the program can be kept from what a repository brings, or does not enter such a repository. */
  readonly repository: "kept off" | "refused";
  /** What a repository's own settings make the program execute when they are let in. */
  readonly canary: string;
  /** Whether an attempt that was canceled leaves a session to go on with. */
  readonly resumesAfterCancel: boolean;
};

export type VendorLimit = {
  readonly seconds: number;
  readonly kind: "rate_limit" | "quota";
  readonly ends: boolean;
};

/** All that the vendor can tell, but for the dollars. */
export const told = ({ input, output, cached }: Tokens): Usage => ({
  usd: null,
  inputTokens: input,
  outputTokens: output,
  cachedTokens: cached,
});

const FIRST: Tokens = { input: 10_000, output: 500, cached: 4_000 };
const SECOND: Tokens = { input: 12_000, output: 300, cached: 9_000 };

const submit = (args: object) => ({ mcp: { server: "passrail", tool: "submit_verdict", args } });
/** What the stage before has left, where the attempt may read it. */
const SAID = "Passed on by the stage before: 7f3a.";
/** Beside it, where no attempt may. */
const UNSAID = "Passed on to somebody else: 9c1e.";
const HOLD = "setsid tail -f /dev/null & touch held.txt; tail -f /dev/null";

export function describeContract(contract: Contract, only: "all" | "short" = "all"): void {
  const { vendor } = contract;
  const name = contract.way === undefined ? vendor.cli : `${vendor.cli} (${contract.way})`;
  const options = { timeout: 120_000 + 4 * vendor.readyMs };

  /** For programs that wait for better times without a word. */
  const patience = { startupMs: 60_000, idleMs: vendor.readyMs };
  /** From a start to the first question to the model: as usual, or as the first attempt has shown of this machine now. */
  let readyMs = vendor.readyMs;
  /** For a program that tells nothing at all before its model has answered: it must have asked before it is ended. */
  const silence = () => ({ totalMs: 60_000 + 4 * readyMs, startupMs: 2 * readyMs, idleMs: readyMs });

  if (only === "all") conformance(name, contract);

  describe(`${name} against scripted models`, options, () => {
    let bench: Bench;
    let handoff: string;
    let hidden: string;
    beforeAll(async () => {
      bench = await openBench(vendor, contract.create);
      [handoff = "", hidden = ""] = passOn(bench.folder);
    });
    afterAll(() => bench.close());
    afterEach(() => expect(bench.leftovers()).toEqual([]));

    const expectUsage = (usage: Usage | null | undefined, expected: Usage): void => {
      const usd = expected.usd === null ? null : expect.closeTo(expected.usd, 6);
      expect(usage).toEqual({ ...expected, usd });
    };

    test("R-X-08, R-004-19, S09, S10, R-002-34: it works in its directory and executes nothing that the repository brings, reads what it was given, is told what is wrong with its verdict, submits a right one, and leaves nothing running", async () => {
      const cwd = bench.workspace();
      const canary = join(bench.folder, "canary-of-work");
      // One that enters no such repository shows that in a test of its own.
      if (contract.repository === "kept off") plantCanaries(cwd, canary);
      bench.play({
        verdict: [
          { text: "I write the report.", do: [{ write: { path: "written.txt", content: "by a tool\n" } }] },
          { do: [{ bash: "env -0 > environment.txt" }] },
          // Codex' model has only its shell, in a sandbox; the others use their tool.
          { do: [{ read: handoff }] },
          { do: [submit({ verdict: "MAYBE" })] },
          { do: [submit({ verdict: "REVISE" })] },
          { do: [submit({ verdict: "APPROVED", summary: `it's "fine" – ünïcödé` })] },
          { text: "I have submitted my verdict." },
        ],
      });
      const submitted: unknown[] = [];
      const startedAt = performance.now();
      const asked = untilAsked(bench, "verdict").then(() => performance.now() - startedAt);
      const end = await withLeak(() =>
        bench.run({
          prompt: "Work and submit. [verdict]",
          agent: { reads: [dirname(handoff)] },
          overrides: { cwd },
          submit: async (text) => {
            submitted.push(JSON.parse(text));
            return submitted.length === 1
              ? { accepted: false, text: "A REVISE needs a summary." }
              : { accepted: true, text: "The verdict is recorded." };
          },
        }),
      );
      readyMs = Math.max(readyMs, 4 * (await asked));
      expect(end).toMatchObject({ detail: "", truncated: false });
      expect(["exited", "finished"]).toContain(end.reason);
      expect(end.conversation).toMatchObject({ failure: null, model: expect.any(String) });
      expect(end.conversation?.denials ?? []).toEqual([]);
      expectWork(end.spec, end);
      expect(songs(canary)).toEqual([]);
      // What is wrong by the schema never gets as far as that.
      expect(submitted).toEqual([{ verdict: "REVISE" }, { verdict: "APPROVED", summary: `it's "fine" – ünïcödé` }]);
      const corrected = bench.asked("verdict").find((request) => request.turn === 5);
      if (corrected === undefined) throw new Error("the model was not asked again after its wrong verdict");
      expect(transcript(corrected)).toContain("A REVISE needs a summary.");
      expect(transcript(corrected)).toContain(SAID);
      const called = end.events.filter((event) => event.type === "tool.called");
      expect(called.length).toBe(end.conversation?.toolCalls);
      expect(called.length).toBeGreaterThanOrEqual(6);
      expect(end.events.filter((event) => event.type === "tool.returned").length).toBe(called.length);
    });

    test("R-000-07, R-X-13: a session is gone on with, and each attempt pays for itself; secrets are in no command line, and not in the output when the model prints them", async () => {
      const place = await bench.desk.open({
        verdictSchema: VERDICT_SCHEMA,
        mayAsk: false,
        submit: async () => ({ accepted: true, text: "Recorded." }),
        ask: async () => ({ accepted: false, text: "Nobody is here." }),
      });
      const secrets = `My key is ${API_KEY} and my token is ${place.token}.`;
      bench.play({
        begin: [{ text: `${secrets} I have done it, and forget my verdict.`, tokens: FIRST, chunkDelayMs: 200 }],
        repair: [
          { do: [submit({ verdict: "REVISE" })], tokens: { input: 0, output: 0, cached: 0 } },
          { text: "Submitted.", tokens: SECOND },
        ],
      });
      const redaction = createRedaction([
        { name: "api key", value: API_KEY },
        { name: "desk token", value: place.token },
      ]);
      const running = bench.start({
        prompt: "Do the first thing. [begin]",
        agent: { tools: { url: place.url, token: place.token } },
        overrides: { redactor: () => createStreamRedactor(redaction) },
      });
      await untilAsked(bench, "begin");
      const commandLines = findMarked(running.spec.marker).map(({ pid }) => commandLine(pid));
      const first = await running.end;
      place.close();
      expect(commandLines.join("\n")).toContain(vendor.cli);
      for (const secret of [API_KEY, place.token]) {
        expect(commandLines.join("\n")).not.toContain(secret);
        expect(readFileSync(running.spec.outputPath, "utf8")).not.toContain(secret);
        expect(first.stdoutTail).not.toContain(secret);
        expect(JSON.stringify(running.events)).not.toContain(secret);
      }
      const submitted: string[] = [];
      expect(first.stdoutTail).toContain("I have done it, and forget my verdict.");
      expectUsage(first.conversation?.usage, contract.usage(FIRST, "first"));
      const session = first.conversation?.session;
      if (session === null || session === undefined) throw new Error("the first attempt left no session");
      const second = await bench.run({
        prompt: "The verdict is missing. Submit it now. [repair]",
        session,
        overrides: { cwd: running.spec.cwd },
        submit: async (text) => {
          submitted.push(text);
          // Not accepted for good, so that no program ends its turn before its last word.
          return { accepted: false, text: "Recorded; say that you are done." };
        },
      });
      expect(second.conversation).toMatchObject({ failure: null, session: { id: session.id } });
      expect(submitted.map((text): unknown => JSON.parse(text))).toEqual([{ verdict: "REVISE" }]);
      const [resumed] = bench.asked("repair");
      if (resumed === undefined) throw new Error("the models were not asked");
      expect(transcript(resumed)).toContain("Do the first thing. [begin]");
      expect(transcript(resumed)).toContain("I have done it, and forget my verdict.");
      expectUsage(second.conversation?.usage, contract.usage(SECOND, "resumed"));
    });

    test("a wrong key is a failure of authentication, at once and with the way out", async () => {
      bench.play({ unauthorized: [{ fail: { status: 401, message: "invalid x-api-key" } }] });
      const end = await bench.run({ prompt: "[unauthorized]" });
      expect(end.conversation?.failure).toMatchObject({ kind: "auth" });
      expect(end.conversation?.failure?.message.length).toBeGreaterThan(20);
      expect(end.durationMs).toBeLessThan(15_000 + vendor.readyMs);
    });

    test("R-002-34: an agent that may only read reads what it was given, cannot write, by no tool, and does not hang", async () => {
      const tries = [
        ...(contract.readsElsewhere ? [] : [{ do: [{ read: hidden }] }]),
        { do: [{ write: { path: "by-tool.txt", content: "x\n" } }] },
        { do: [{ bash: "echo x > by-shell.txt" }] },
      ];
      bench.play({ readonly: [{ do: [{ read: handoff }] }, ...tries, { text: "I could not write." }] });
      const end = await bench.run({
        prompt: "[readonly]",
        options: { permission: "read" },
        agent: { reads: [dirname(handoff)] },
      });
      expect(["exited", "finished"]).toContain(end.reason);
      const last = bench.asked("readonly").at(-1);
      if (last === undefined) throw new Error("the models were not asked");
      // Each of them was tried.
      expect(last.turn).toBe(1 + tries.length);
      expect(transcript(last)).toContain(SAID);
      expect(transcript(last)).not.toContain(UNSAID);
      expect((end.conversation?.denials ?? []).filter((denial) => denial.includes(handoff))).toEqual([]);
      expect(existsSync(join(end.spec.cwd, "by-tool.txt"))).toBe(false);
      expect(existsSync(join(end.spec.cwd, "by-shell.txt"))).toBe(false);
    });

    if (only === "short") return;

    test("a server that fails for ever ends the attempt", async () => {
      bench.play({ outage: [{ fail: { status: 500, message: "scripted outage" } }] });
      const end = await bench.run({ prompt: "[outage]", overrides: { limits: silence() } });
      expect(end.conversation?.failure).toMatchObject({ kind: contract.failures.outage });
      expect(bench.asked("outage").length).toBeGreaterThan(0);
    });

    test.each(contract.failures.limits)(
      "a limit of the vendor for $seconds s is told as $kind",
      async ({ seconds, kind, ends }) => {
        const headers = { "retry-after": String(seconds) };
        const fail = { status: 429, message: "This request would exceed your rate limit.", headers };
        const began = Date.now();
        bench.play({ limit: [{ fail }] });
        const end = await bench.run({ prompt: "[limit]", overrides: { limits: silence() } });
        expect(end.conversation?.failure).toMatchObject({ kind });
        if (!ends) return expect(end.conversation?.failure).not.toHaveProperty("resetsAt");
        const told = Date.parse(end.conversation?.failure?.resetsAt ?? "");
        expect(told).toBeGreaterThanOrEqual(began + seconds * 1000 - 61_000);
        expect(told).toBeLessThanOrEqual(Date.now() + seconds * 1000 + 1_000);
      },
    );

    // A program that starts slowly shows only the harder of the two.
    const stalls = [...(vendor.readyMs > 6_000 ? [] : (["mid-stream"] as const)), "dribble" as const];
    test.each(stalls)(
      "R-001-35: a stream that stalls in the middle ends at our limit, and nothing stays (%s)",
      async (hang) => {
        bench.play({ stall: [{ text: "This sentence has no end, because it stalls.".repeat(5), hang }] });
        const running = bench.start({
          prompt: "[stall]",
          overrides: { limits: patience },
        });
        const end = await running.end;
        expect(end.reason).toBe("idle_timeout");
        expect(bench.asked("stall").length).toBeGreaterThan(0);
      },
    );

    test("R-001-39: canceling in the middle of a tool ends everything, also what left the process group, and the conversation can be gone on with", async () => {
      bench.play({
        hold: [{ text: "I hold.", do: [{ bash: HOLD }] }, { text: "never said" }],
        after: [{ text: "I go on." }],
      });
      const running = bench.start({ prompt: "Begin to hold. [hold]" });
      const { cwd } = running.spec;
      await until("the tool holds", () => existsSync(join(cwd, "held.txt")) || undefined, 30_000);
      expect(findMarked(running.spec.marker).length).toBeGreaterThan(1);
      running.cancel();
      const end = await running.end;
      expect(end.reason).toBe("canceled");
      expect(findMarked(running.spec.marker)).toEqual([]);
      const session: Session | null | undefined = end.conversation?.session;
      if (!contract.resumesAfterCancel) return;
      if (session === null || session === undefined) throw new Error("the canceled attempt left no session");
      const resumed = await bench.run({ prompt: "Go on. [after]", session, overrides: { cwd } });
      expect(resumed.conversation).toMatchObject({ failure: null });
      const [request] = bench.asked("after");
      if (request === undefined) throw new Error("the models were not asked");
      expect(transcript(request)).toContain("Begin to hold. [hold]");
    });

    test("S10: what the repository brings for the agent's program is executed only where it is let in", async () => {
      bench.play({ work: [{ do: [{ bash: "echo worked > worked.txt" }] }, { text: "Done." }] });
      const cwd = bench.workspace();
      const canary = join(bench.folder, "canary");
      plantCanaries(cwd, canary);
      if (contract.repository === "refused") {
        const end = await bench.run({ prompt: "[work]", overrides: { cwd } });
        expect(end).toMatchObject({ process: null, conversation: { failure: { kind: "request_refused" } } });
        expect(songs(canary)).toEqual([]);
      }
      // Let in: proof that the canaries can sing. That they are silent otherwise is in the first test.
      const running = bench.start({
        prompt: "[work]",
        overrides: { cwd, limits: { totalMs: 120_000 } },
        agent: { repositorySettings: true },
      });
      try {
        // Some install packages before they load what the repository brings.
        await until("a canary sings", () => songs(canary).includes(contract.canary) || undefined, 90_000);
      } finally {
        running.cancel();
        await running.end;
      }
    });

    test("a session that does not exist is told as lost", async () => {
      bench.play({ lost: [{ text: "I remember nothing." }] });
      const session = { id: vendor.lostSession, totals: null };
      const end = await bench.run({ prompt: "[lost]", session });
      expect(end.conversation?.failure).toMatchObject({ kind: "session_lost" });
      expect(bench.asked("lost")).toEqual([]);
    });

    test("nobody at the other end is told as unreachable", async () => {
      const end = await bench.run({
        prompt: "[nobody]",
        overrides: { env: bench.environment("http://127.0.0.1:9"), limits: silence() },
      });
      if (end.reason === "startup_timeout") return expect(contract.failures.outage).toBe("startup_timeout");
      expect(end.conversation?.failure).toMatchObject({ kind: "unreachable" });
    });
  });
}

/** The suite of the port, with a real program and scripted models. */
function conformance(name: string, { vendor, create, echoes }: Contract): void {
  const capabilities = { conversation: true, readyMs: vendor.readyMs, worksAndCancels: "elsewhere", echoes } as const;
  runnerSuite(name, capabilities, async () => {
    const bench = await openBench(vendor, create);
    const rules = Object.entries(SCENES).map(([scene, turns]) => ({
      id: scene,
      match: { prompt: sceneMark(scene as Scene) },
      turns,
    }));
    bench.models.play({ rules });
    /** How many requests there had been when an attempt was prepared. */
    const before = new WeakMap<AttemptSpec, number>();
    return {
      create,
      spec: (scene, overrides) => {
        const spec = bench.spec({ prompt: overrides.prompt ?? sceneMark(scene), overrides });
        before.set(spec, bench.models.requests.length);
        return spec;
      },
      heard: (spec) =>
        bench.models.requests
          .slice(before.get(spec))
          .map((request) => transcript(request))
          .join("\n"),
      close: bench.close,
    };
  });
}

const SCENES: Readonly<Record<Scene, Script>> = {
  work: [
    { do: [{ write: { path: "written.txt", content: "by a tool\n" } }] },
    { do: [{ bash: "env -0 > environment.txt" }] },
    { text: "Done." },
  ],
  hold: [{ text: "I hold.", do: [{ bash: HOLD }] }, { text: "never said" }],
  talk: [{ text: SPEECH }],
};

/** A handoff in a folder of its own, and one in another. */
function passOn(folder: string): readonly string[] {
  return [SAID, UNSAID].map((said, at) => {
    const file = join(folder, `channel-${at}`, "handoffs", "dev-1.md");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `## Status\n\ncomplete\n\n${said}\n`, { mode: 0o400 });
    return file;
  });
}

/** Everything by which a repository could make one of these programs execute something. Each leaves a line in the canary's file. */
function plantCanaries(cwd: string, canary: string): void {
  const plant = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  const song = join(cwd, "sing.sh");
  plant("sing.sh", `echo "$1" >> '${canary}'\necho '[]'\n`);
  const sing = (who: string): string => `sh ${song} ${who}`;
  const server = (who: string) => ({ command: "sh", args: [song, who] });
  const hook = (who: string) => [{ matcher: "*", hooks: [{ type: "command", command: sing(who) }] }];
  const hooks = (who: string) => ({ SessionStart: hook(`${who}-session`), PreToolUse: hook(`${who}-tool`) });
  plant(".mcp.json", JSON.stringify({ mcpServers: { canary: server("mcp.json") } }));
  plant(".claude/settings.json", JSON.stringify({ hooks: hooks("claude"), enableAllProjectMcpServers: true }));
  const lines = [
    `notify = ["sh", "${song}", "codex-notify"]`,
    "[mcp_servers.canary]",
    'command = "sh"',
    `args = ["${song}", "codex-mcp"]`,
  ];
  plant(".codex/config.toml", `${lines.join("\n")}\n`);
  plant(".codex/hooks.json", JSON.stringify({ hooks: hooks("codex") }));
  const geminiHooks = { SessionStart: hook("gemini-session"), BeforeTool: hook("gemini-tool") };
  plant(
    ".gemini/settings.json",
    JSON.stringify({
      mcpServers: { canary: server("gemini-mcp") },
      hooks: geminiHooks,
      tools: { enableHooks: true, discoveryCommand: sing("gemini-discovery") },
    }),
  );
  plant(
    "opencode.json",
    JSON.stringify({ mcp: { canary: { type: "local", command: ["sh", song, "opencode-mcp"], enabled: true } } }),
  );
  const plugin = `require("node:fs").appendFileSync(${JSON.stringify(canary)}, "opencode-plugin\\n");\n`;
  plant(".opencode/plugin/canary.js", `${plugin}export const Canary = async () => ({});\n`);
  plant(".opencode/plugins/canary.js", `${plugin}export const Canary = async () => ({});\n`);
}

const songs = (canary: string): string[] =>
  existsSync(canary) ? [...new Set(readFileSync(canary, "utf8").trim().split("\n"))] : [];

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // Gone in the meantime.
    return "";
  }
}
