import { expect, test } from "vitest";
import type { Detected } from "./detect.ts";
import { createKnownRunners } from "./known.ts";

const CLAUDE: Detected = {
  runner: "claude",
  status: "found",
  path: "/bin/claude",
  version: "2.1.0",
  login: { state: "yes", evidence: "a file" },
  fix: "",
};

function watch(detect: () => Promise<readonly Detected[]>) {
  let at = Date.parse("2026-01-01T00:00:00Z");
  const problems: unknown[] = [];
  const ask = createKnownRunners({
    detect,
    now: () => new Date(at).toISOString(),
    onProblem: (error) => problems.push(error),
  });
  return { ask, problems, later: (ms: number) => (at += ms) };
}

test("programs are asked once in half a minute, and an old answer is given while they are asked again", async () => {
  let times = 0;
  const next = Promise.withResolvers<readonly Detected[]>();
  const { ask, later } = watch(() => (times++ === 0 ? Promise.resolve([CLAUDE]) : next.promise));
  expect(await ask()).toMatchObject({ runners: [{ runner: "claude", found: true, login: "yes" }], checking: false });
  later(29_000);
  await ask();
  expect(times).toBe(1);
  later(2000);
  expect(await ask()).toMatchObject({ runners: [{ runner: "claude" }], checking: true });
  next.resolve([{ runner: "codex", status: "missing", detail: "not on the PATH", fix: "install it" }]);
  await expect.poll(ask).toMatchObject({
    runners: [{ runner: "codex", found: false, version: null, evidence: "not on the PATH", fix: "install it" }],
    checking: false,
  });
  expect(times).toBe(2);
});

test("a program that does not answer keeps nobody waiting for long, and a failure is told and tried again", async () => {
  const never = watch(() => new Promise(() => undefined));
  const began = performance.now();
  expect(await never.ask()).toEqual({ runners: [], checkedAt: null, checking: true });
  expect(performance.now() - began).toBeLessThan(5000);
  let times = 0;
  const failing = watch(async () => {
    if (times++ === 0) throw new Error("no processes");
    return [CLAUDE];
  });
  expect(await failing.ask()).toEqual({ runners: [], checkedAt: null, checking: false });
  expect(failing.problems).toHaveLength(1);
  expect(await failing.ask()).toMatchObject({ runners: [{ runner: "claude" }] });
});
