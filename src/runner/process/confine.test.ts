// How a program enters its sandbox: at the last moment, as a whole, or not at all.

import { afterEach, beforeEach, expect, test } from "vitest";
import { agent, type Bench, openBench } from "../../../test/fixtures/agents/try-agent.ts";
import { err, ok } from "../../core/result.ts";
import type { AttemptSpec } from "../runner.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

type Seen = Parameters<NonNullable<AttemptSpec["confine"]>>[0];

test("the sandbox is given the program by its absolute path, and what it answers with is started", async () => {
  const seen: Seen[] = [];
  const end = await bench.run({
    argv: agent("echo-stdin"),
    prompt: "hello",
    confine: async (launch) => {
      seen.push(launch);
      return ok({ ...launch, argv: ["/usr/bin/env", "INSIDE=yes", "/bin/sh", "-c", "cat; echo $INSIDE"] });
    },
  });
  expect(end).toMatchObject({ reason: "exited", exitCode: 0, stdoutTail: "helloyes\n" });
  expect(seen[0]?.argv[0]).toMatch(/^\//u);
  expect(Object.values(seen[0]?.env ?? {})).toContain(end.spec.marker);
});

test("what cannot be confined is not started, and the reason is said", async () => {
  const end = await bench.run({
    argv: agent("echo-stdin"),
    confine: async () => err({ code: "sandbox_unavailable", message: "no bwrap here", hint: "apt install bubblewrap" }),
  });
  expect(end).toMatchObject({ reason: "spawn_failed", process: null });
  expect(end.detail).toContain("no bwrap here (apt install bubblewrap)");
});

test("a sandbox that answers with a bare name is refused: a workspace could hold a program of that name", async () => {
  const end = await bench.run({
    argv: agent("echo-stdin"),
    confine: async (launch) => ok({ ...launch, argv: ["bwrap"] }),
  });
  expect(end).toMatchObject({ reason: "spawn_failed", process: null });
});

test("a sandbox with programs of its own is given the name as it was written", async () => {
  const names: string[] = [];
  const end = await bench.run({
    argv: ["only-inside", "--flag"],
    ownPrograms: true,
    confine: async (launch) => {
      names.push(launch.program, ...launch.argv);
      return ok({ ...launch, argv: ["/bin/echo", ...launch.argv] });
    },
  });
  expect(names).toEqual(["only-inside", "only-inside", "--flag"]);
  expect(end.stdoutTail).toBe("only-inside --flag\n");
});

test("an attempt that is canceled while it is being confined never has a process", async () => {
  const cancel = new AbortController();
  const end = await bench.run(
    {
      argv: agent("silent"),
      confine: async (launch) => {
        cancel.abort();
        return ok(launch);
      },
    },
    { signal: cancel.signal },
  );
  expect(end).toMatchObject({ reason: "canceled", process: null });
});
