import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bench, openBench, until } from "../../test/fixtures/agents/try-agent.ts";
import { childEnvironment } from "./process/environment.ts";
import { isAlive } from "./process/process-table.ts";
import type { ProcessIdentity } from "./runner.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

const outputOf = (end: { spec: { outputPath: string } }): string => readFileSync(end.spec.outputPath, "utf8");

describe("how an attempt ends", () => {
  test("a program that exits with 0 ends as exited, with nothing to explain", async () => {
    const end = await bench.run({ argv: agent("echo-stdin"), prompt: "hello" });
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, signal: null, detail: "", truncated: false });
    expect(end).toMatchObject({ stdoutTail: "hello", stdoutWhole: true, outputBytes: 5 });
    expect(outputOf(end)).toBe("hello");
  });

  test("another exit code is reported with a sentence", async () => {
    const end = await bench.run({ argv: agent("exits", 3) });
    expect(end).toMatchObject({ reason: "exited", exitCode: 3, signal: null });
    expect(end.detail).toContain("exited with code 3");
  });

  test("a program that dies of a signal ends as signaled", async () => {
    const end = await bench.run({ argv: agent("exits", "SIGKILL") });
    expect(end).toMatchObject({ reason: "signaled", exitCode: null, signal: "SIGKILL" });
    expect(end.detail).toContain("SIGKILL");
  });

  test("no output at all within the start-up limit ends it as startup_timeout", async () => {
    const end = await bench.run({ argv: agent("silent"), limits: { startupMs: 200, idleMs: 60_000 } });
    expect(end).toMatchObject({ reason: "startup_timeout", signal: "SIGTERM", outputBytes: 0 });
    expect(end.durationMs).toBeLessThan(2_000);
  });

  test("R-001-35: no further output within the idle limit ends it as idle_timeout", async () => {
    const end = await bench.run({
      argv: agent("slow-then-silent", 4, 100),
      limits: { startupMs: 10_000, idleMs: 1_000 },
    });
    expect(end.reason).toBe("idle_timeout");
    expect(end.stdoutTail).toContain("line 4");
    expect(end.durationMs).toBeLessThan(10_000);
  });

  test("R-001-35: without a start-up limit, silence from the beginning is idle too", async () => {
    const end = await bench.run({ argv: agent("silent"), limits: { idleMs: 200 } });
    expect(end.reason).toBe("idle_timeout");
  });

  test("R-000-24: an attempt that takes longer than its total limit ends as timeout and its process is gone", async () => {
    const end = await bench.run({ argv: agent("never-reads-stdin"), limits: { totalMs: 300 } });
    expect(end.reason).toBe("timeout");
    expect(end.detail).toContain("300ms");
    expect(end.durationMs).toBeGreaterThanOrEqual(299);
    expect(end.durationMs).toBeLessThan(2_000);
    expect(isAlive(end.process as ProcessIdentity)).toBe(false);
  });

  test("a program that ignores TERM is killed after the grace time", async () => {
    const end = await bench.run({
      argv: agent("ignores-term"),
      limits: { startupMs: 10_000, idleMs: 200, graceMs: 200 },
    });
    expect(end).toMatchObject({ reason: "idle_timeout", signal: "SIGKILL" });
    expect(isAlive(end.process as ProcessIdentity)).toBe(false);
  });

  test("the first reason wins: a clean exit after our TERM is still the limit that ended it", async () => {
    const end = await bench.run({ argv: agent("graceful"), limits: { startupMs: 10_000, idleMs: 300 } });
    expect(end).toMatchObject({ reason: "idle_timeout", exitCode: 0, signal: null });
    expect(end.stdoutTail).toContain("put in order");
  });

  test("R-001-39: canceling ends the process", async () => {
    const cancel = new AbortController();
    const end = await bench.run(
      { argv: agent("silent") },
      { signal: cancel.signal, onStarted: () => void setTimeout(() => cancel.abort(), 50) },
    );
    expect(end).toMatchObject({ reason: "canceled", signal: "SIGTERM" });
    expect(isAlive(end.process as ProcessIdentity)).toBe(false);
  });

  test("an attempt that is canceled before its start never has a process", async () => {
    const end = await bench.run({ argv: agent("silent") }, { signal: AbortSignal.abort() });
    expect(end).toMatchObject({ reason: "canceled", process: null });
  });

  test("a command that is not on the PATH is agent_not_found and names what was searched", async () => {
    const end = await bench.run({ argv: ["no-such-agent"], env: { PATH: "/usr/bin:/bin" } });
    expect(end).toMatchObject({ reason: "agent_not_found", process: null, exitCode: null });
    expect(end.detail).toContain("no-such-agent");
    expect(end.detail).toContain("/usr/bin:/bin");
  });

  test("a file that is not executable is agent_not_found", async () => {
    writeFileSync(bench.path("plain.txt"), "not a program", { mode: 0o644 });
    const end = await bench.run({ argv: ["./plain.txt"] });
    expect(end.reason).toBe("agent_not_found");
    expect(end.detail).toContain("./plain.txt");
  });

  test("a name with a slash is taken from the working directory", async () => {
    writeFileSync(bench.path("mine.sh"), "#!/bin/sh\necho here\n", { mode: 0o755 });
    const end = await bench.run({ argv: ["./mine.sh"] });
    expect(end).toMatchObject({ reason: "exited", stdoutTail: "here\n" });
  });

  test("a relative entry of the PATH does not let a file in the workspace pose as the agent", async () => {
    writeFileSync(bench.path("claude"), "#!/bin/sh\necho hijacked\n", { mode: 0o755 });
    const end = await bench.run({ argv: ["claude"], env: { PATH: `.::${bench.path("none")}` } });
    expect(end.reason).toBe("agent_not_found");
  });

  test("a working directory that is missing, or is a file, is spawn_failed and named", async () => {
    const missing = await bench.run({ cwd: bench.path("nowhere") });
    expect(missing).toMatchObject({ reason: "spawn_failed", process: null });
    expect(missing.detail).toContain("nowhere");
    writeFileSync(bench.path("file"), "");
    expect(await bench.run({ cwd: bench.path("file") })).toMatchObject({ reason: "spawn_failed" });
  });

  test("a script whose interpreter is missing is spawn_failed", async () => {
    writeFileSync(bench.path("broken"), "#!/no/such/interpreter\n", { mode: 0o755 });
    const end = await bench.run({ argv: ["./broken"] });
    expect(end).toMatchObject({ reason: "spawn_failed", process: null });
    expect(end.detail).toContain("interpreter");
  });

  test("arguments that no system call can take are spawn_failed, not a crash", async () => {
    expect(await bench.run({ argv: agent("dump-args", "a\0b") })).toMatchObject({ reason: "spawn_failed" });
    expect(await bench.run({ argv: agent("dump-args", "x".repeat(3_000_000)) })).toMatchObject({
      reason: "spawn_failed",
    });
  });

  test("an output file that cannot be created is spawn_failed", async () => {
    const end = await bench.run({ outputPath: bench.path("no/such/folder/out.log") });
    expect(end).toMatchObject({ reason: "spawn_failed", process: null });
    expect(end.detail).toContain("out.log");
  });

  test("success and every kind of failure have the same fields", async () => {
    const ends = await Promise.all([
      bench.run({}),
      bench.run({ argv: agent("exits", 1) }),
      bench.run({ argv: agent("exits", "SIGTERM") }),
      bench.run({ argv: agent("silent"), limits: { startupMs: 100 } }),
      bench.run({ argv: agent("silent"), limits: { idleMs: 100 } }),
      bench.run({ argv: agent("silent"), limits: { totalMs: 100 } }),
      bench.run({ argv: agent("chatty", 1e12), limits: { outputBytes: 100 } }),
      bench.run({}, { signal: AbortSignal.abort() }),
      bench.run({ argv: ["no-such-agent"] }),
      bench.run({ cwd: "/no/such/folder" }),
    ]);
    expect(ends.map((end) => end.reason)).toEqual([
      "exited",
      "exited",
      "signaled",
      "startup_timeout",
      "idle_timeout",
      "timeout",
      "output_limit",
      "canceled",
      "agent_not_found",
      "spawn_failed",
    ]);
    const fields = ends.map((end) => Object.keys(end).sort().join());
    expect(new Set(fields).size).toBe(1);
  });
});

describe("what goes in", () => {
  test("S22: arguments with spaces, quotes, dashes, newlines and shell signs arrive unchanged", async () => {
    const hostile = [
      "",
      " a b ",
      "it's",
      '"q"',
      "--flag=x y",
      "-",
      "--",
      "line\nbreak",
      "$(id)",
      "`id`",
      "*",
      "\\",
      "ü€😀",
    ];
    const end = await bench.run({ argv: agent("dump-args", ...hostile) });
    expect(JSON.parse(end.stdoutTail)).toEqual(hostile);
  });

  test("S09: the environment of the program is the allow-list, what is passed and what is declared; nothing else", async () => {
    const parent = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/home/me",
      LANG: "C.UTF-8",
      TZ: "UTC",
      ANTHROPIC_API_KEY: "passed-by-name",
      GITHUB_TOKEN: "secret",
      NODE_OPTIONS: "--no-warnings",
    };
    const env = childEnvironment(parent, { STORY_ID: "S-1", LANG: "de_DE.UTF-8" }, ["ANTHROPIC_API_KEY", "NOT_SET"]);
    // Node passes this one on by default.
    process.env["NODE_V8_COVERAGE"] = bench.path("coverage");
    try {
      const end = await bench.run({ argv: agent("dump-env"), env });
      const seen = JSON.parse(end.stdoutTail) as Record<string, string>;
      // macOS adds this to every process.
      delete seen["__CF_USER_TEXT_ENCODING"];
      expect(seen).toEqual({
        PATH: parent.PATH,
        HOME: "/home/me",
        LANG: "de_DE.UTF-8",
        TZ: "UTC",
        ANTHROPIC_API_KEY: "passed-by-name",
        STORY_ID: "S-1",
        PASSRAIL_MARKER: end.spec.marker,
      });
      expect(existsSync(bench.path("coverage"))).toBe(false);
    } finally {
      delete process.env["NODE_V8_COVERAGE"];
    }
  });

  test("a bare name is looked up on the PATH of the given environment, not on ours", async () => {
    const end = await bench.run({ argv: ["node", "-p", "1+1"], env: { PATH: dirname(process.execPath) } });
    expect(end).toMatchObject({ reason: "exited", stdoutTail: "2\n" });
  });

  test("a prompt of 5 MB arrives whole", async () => {
    const end = await bench.run({
      argv: agent("echo-stdin"),
      prompt: "p".repeat(5_000_000),
      limits: { outputBytes: 6e6 },
    });
    expect(end).toMatchObject({ reason: "exited", outputBytes: 5_000_000, stdoutWhole: true, truncated: false });
    expect(statSync(end.spec.outputPath).size).toBe(5_000_000);
    expect(end.stdoutTail.length).toBe(5_000_000);
  });

  test("a prompt of 5 MB to a program that leaves without reading it does not hang or fail", async () => {
    const end = await bench.run({ argv: agent("never-reads-stdin", 50), prompt: "p".repeat(5_000_000) });
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, detail: "" });
  });

  test("a prompt of 5 MB to a program that stays without reading it ends at the limit", async () => {
    const end = await bench.run({
      argv: agent("never-reads-stdin"),
      prompt: "p".repeat(5_000_000),
      limits: { idleMs: 300 },
    });
    expect(end).toMatchObject({ reason: "idle_timeout", signal: "SIGTERM" });
  });

  test("the start is recorded before the prompt is sent", async () => {
    const order: string[] = [];
    const end = await bench.run(
      { argv: agent("echo-stdin"), prompt: "now" },
      {
        onStarted: async (identity) => {
          expect(isAlive(identity)).toBe(true);
          await new Promise((resolve) => void setTimeout(resolve, 100));
          // It copies its stdin at once: had the prompt been sent, it would have ended by now.
          expect(isAlive(identity)).toBe(true);
          order.push("recorded");
        },
      },
    );
    order.push("ended");
    expect(order).toEqual(["recorded", "ended"]);
    expect(end).toMatchObject({ reason: "exited", stdoutTail: "now" });
  });

  test("when the start cannot be recorded, the program is ended and the error is the caller's", async () => {
    let started: ProcessIdentity | undefined;
    const attempt = bench.run(
      { argv: agent("ignores-term"), limits: { graceMs: 100 } },
      {
        onStarted: (identity) => {
          started = identity;
          throw new Error("store is gone");
        },
      },
    );
    await expect(attempt).rejects.toThrow("store is gone");
    await until(() => started !== undefined && !isAlive(started), "the program is gone");
  });
});

describe("what comes out", () => {
  test("stdout and stderr are both kept in the file, but only stdout is read for a verdict", async () => {
    const end = await bench.run({ argv: agent("invalid-utf8") });
    expect(outputOf(end)).toContain("from stderr");
    expect(end.stdoutTail).not.toContain("from stderr");
  });

  test("a character split over two writes is whole, and invalid bytes become U+FFFD", async () => {
    const end = await bench.run({ argv: agent("invalid-utf8") });
    expect(end).toMatchObject({ reason: "exited", stdoutTail: "€\uFFFD\uFFFD\0ok" });
  });

  test("the output file is for its owner only", async () => {
    const end = await bench.run({});
    expect(statSync(end.spec.outputPath).mode & 0o777).toBe(0o600);
  });

  test.each(["lines", "no-newline"])(
    "a flood of 100 MB (%s) is bounded in memory, on disk, and in each turn of the event loop",
    async (shape) => {
      const outputBytes = 10_000_000;
      const before = process.memoryUsage().rss;
      let highest = before;
      const sampler = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 5);
      const { redactor, mostInOneTurn } = turnCounter();
      const end = await bench.run({ argv: agent("chatty", 100_000_000, shape), limits: { outputBytes }, redactor });
      clearInterval(sampler);
      // Node alone takes up to two megabytes in a row.
      expect(mostInOneTurn()).toBeLessThan(300_000);
      expect(end).toMatchObject({ reason: "exited", exitCode: 0, truncated: true, stdoutWhole: false });
      expect(end.outputBytes).toBe(100_000_000 + "\nthe end\n".length);
      expect(end.stdoutTail.endsWith("the end\n")).toBe(true);
      const file = readFileSync(end.spec.outputPath);
      expect(file.length).toBeLessThan(outputBytes + 100);
      expect(file.includes(`\n[passrail: ${100_000_009 - outputBytes} bytes left out]\n`)).toBe(true);
      expect(file.subarray(-8).toString()).toBe("the end\n");
      expect(highest - before).toBeLessThan(150_000_000);
    },
  );

  test("more than twenty times the cap ends the attempt as output_limit", async () => {
    const end = await bench.run({
      argv: agent("chatty", 1e12, "no-newline", "stderr"),
      limits: { outputBytes: 50_000 },
    });
    expect(end.reason).toBe("output_limit");
    expect(end.outputBytes).toBeGreaterThan(1_000_000);
    expect(end.outputBytes).toBeLessThan(2_000_000);
    expect(statSync(end.spec.outputPath).size).toBeLessThan(50_100);
    expect(isAlive(end.process as ProcessIdentity)).toBe(false);
  });
});

/** A redactor that removes nothing and counts. */
function turnCounter() {
  let [now, most] = [0, 0];
  const push = (chunk: Uint8Array): Uint8Array => {
    if (now === 0) setImmediate(() => (now = 0));
    now += chunk.length;
    most = Math.max(most, now);
    return chunk;
  };
  return { redactor: () => ({ push, flush: () => new Uint8Array() }), mostInOneTurn: () => most };
}
