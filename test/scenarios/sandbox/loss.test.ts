// The provider of a sandbox is lost, or Passrail is killed, at every single call between the two: afterwards no sandbox is left, and no commit
// that an agent made is lost. The calls are counted in a round without a fault, so a new one is in the table by itself.

import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Result } from "../../../src/core/result.ts";
import { removeTempDirs, tempDir, userGit } from "../../../src/workspace/workspace.testsuite.ts";
import type { Workspace } from "../../../src/workspace/workspace.ts";
import { KEY, startFakeDaytona } from "../../fixtures/daytona/server.ts";
import { until } from "../../harness/until.ts";
import { type Bench, openConfined } from "./bench.ts";
import { bubblewrapTests, whyLeftOut } from "./can-confine.ts";

type Fault = "request" | "answer" | "killed";
const FAULTS: readonly Fault[] = ["request", "answer", "killed"];

/** A program that commits; `mark` tells from outside that it did. */
const commits = (mark: string): string =>
  `echo made > made.txt; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made && echo > ${mark}`;

/** Closing is repeated, as the engine does. */
async function closed(bench: Bench, workspace: Workspace): Promise<Result<unknown>> {
  let last: Result<unknown> = await bench.workspaces.close(workspace, "r1");
  for (let again = 0; again < 3 && !last.ok; again++) last = await bench.workspaces.close(workspace, "r1");
  return last;
}

type Place = {
  readonly bench: Bench;
  /** Calls so far. */
  readonly calls: () => number;
  /** Arms a fault for a call, counted from the first. */
  readonly fail: (call: number, fault: Fault, kill: () => void) => void;
  readonly left: () => readonly string[];
  readonly end: () => Promise<void>;
};

/** Whatever happened: what is left, and whether a commit that was made is there. */
async function round(
  place: Place,
  call: number,
  fault: Fault | undefined,
): Promise<{ calls: number; wrong: string[] }> {
  const { bench } = place;
  const cancel = new AbortController();
  if (fault !== undefined) place.fail(call, fault, () => cancel.abort());
  const request = { runId: "r1", project: bench.project, branch: "feat/r1" };
  const first = await bench.workspaces.open(request);
  // As the engine does, when the provider is there again.
  const opened = first.ok ? first : await bench.workspaces.open(request);
  if (!opened.ok) return { calls: place.calls(), wrong: place.left().map((name) => `left: ${name}`) };
  const mark = join(bench.dir, "mark");
  await bench.sh(opened.value, commits(mark), { hooks: { signal: cancel.signal }, limits: { graceMs: 0 } });
  const end = await closed(bench, opened.value);
  const log = userGit(bench.project, "log", "--format=%s", "--all");
  return {
    calls: place.calls(),
    wrong: [
      ...(end.ok ? [] : [`not closed: ${end.error.message}`]),
      ...place.left().map((name) => `left: ${name}`),
      ...(existsSync(mark) && !log.split("\n").includes("made") ? ["the commit is lost"] : []),
    ],
  };
}

/** Each step with one fault, in turn; PASSRAIL_LOSS=all tries each with all. */
function faultsAt(step: number): readonly Fault[] {
  return process.env["PASSRAIL_LOSS"] === "all" ? FAULTS : FAULTS.slice(step % 3, (step % 3) + 1);
}

async function table(open: () => Promise<Place>): Promise<readonly string[]> {
  const once = async (call: number, fault: Fault | undefined): Promise<{ calls: number; wrong: string[] }> => {
    const place = await open();
    try {
      return await round(place, call, fault);
    } finally {
      await place.end();
    }
  };
  const clean = await once(0, undefined);
  const steps = Array.from({ length: clean.calls }, (_, at) => at + 1);
  const wrong = [...clean.wrong];
  const cases = steps.flatMap((step) => faultsAt(step).map((fault) => ({ step, fault })));
  const next = async (): Promise<void> => {
    for (let each = cases.shift(); each !== undefined; each = cases.shift()) {
      const { step, fault } = each;
      const found = await once(step, fault);
      wrong.push(...found.wrong.map((what) => `${fault} at call ${step} of ${clean.calls}: ${what}`));
    }
  };
  // Most of a round is waiting.
  await Promise.all([next(), next(), next(), next()]);
  expect(steps.length).toBeGreaterThan(2);
  return wrong;
}

async function openDaytona(): Promise<Place> {
  const fake = await startFakeDaytona();
  const settings = { daytona: { url: fake.url, image: "agents:1", start: "4s" } };
  const bench = await openConfined("daytona", settings, { DAYTONA_API_KEY: KEY });
  return {
    bench,
    calls: () => fake.calls.length,
    fail: (call, fault, kill) => fake.fail(call, fault === "killed" ? kill : fault),
    left: fake.sandboxes,
    end: () => fake.close(),
  };
}

async function openEngine(): Promise<Place> {
  const bin = await tempDir();
  copyFileSync(join(import.meta.dirname, "../../fixtures/containers/engine.mjs"), join(bin, "docker"));
  chmodSync(join(bin, "docker"), 0o755);
  const state = join(bin, "docker-state");
  mkdirSync(join(state, "containers"), { recursive: true });
  writeFileSync(join(state, "calls.jsonl"), "");
  const path = `${bin}:${process.env["PATH"]}`;
  const bench = await openConfined("docker", { docker: { image: "agents:1" } }, { PATH: path });
  // As after a crash: a container is left, and a note says that there may be one.
  const store = createHash("sha256").update(bench.home).digest("hex").slice(0, 12);
  writeFileSync(join(state, "containers/left.json"), JSON.stringify({ labels: [`passrail.workspace=${store}-r1`] }));
  mkdirSync(join(bench.home, "confined/r1"), { recursive: true, mode: 0o700 });
  writeFileSync(join(bench.home, "confined/r1/container"), "left");
  const calls = (): number => readFileSync(join(state, "calls.jsonl"), "utf8").split("\n").length - 1;
  let looking: NodeJS.Timeout | undefined;
  return {
    bench,
    calls,
    fail(call, fault, kill) {
      if (fault !== "killed") writeFileSync(join(state, "lost"), `${call} ${fault}`);
      else looking = setInterval(() => calls() >= call && kill(), 2);
    },
    left: () => readdirSync(join(state, "containers")).filter((name) => name.endsWith(".json")),
    end: async () => clearInterval(looking),
  };
}

describe("a sandbox's provider that is lost in the middle", { timeout: 300_000 }, () => {
  afterEach(removeTempDirs);

  test.each([
    ["Daytona", openDaytona],
    ["a container engine", openEngine],
  ] as const)("%s: at every call, whatever is lost, no sandbox is left and no commit lost", async (_name, open) => {
    expect((await table(open)).join("\n")).toBe("");
  });

  test.skipIf(bubblewrapTests === "left out")(
    `bubblewrap itself is killed: its processes go with it${whyLeftOut}`,
    async () => {
      const bench = await openConfined("bubblewrap");
      const workspace = await bench.open();
      const mark = join(bench.result, "mark");
      const ended = bench.sh(workspace, `${commits(mark)}; while :; do sleep 0.05; date +%N > alive; done`);
      await until("it has committed", () => existsSync(mark) || undefined);
      const own = readdirSync("/proc").filter((pid) => isBubblewrapOf(pid, workspace.dir));
      expect(own.length).toBeGreaterThan(0);
      // With the outer one its inner one may already be gone.
      for (const pid of own) killIfThere(Number(pid));
      expect(await ended).toMatchObject({ reason: "signaled" });
      expect(await closed(bench, workspace)).toMatchObject({ ok: true });
      expect(userGit(bench.project, "log", "-1", "--format=%s", "feat/r1")).toBe("made");
      expect(readdirSync("/proc").filter((pid) => isBubblewrapOf(pid, workspace.dir))).toEqual([]);
    },
  );
});

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function isBubblewrapOf(pid: string, dir: string): boolean {
  if (!/^\d+$/u.test(pid)) return false;
  try {
    const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return program.endsWith("bwrap") && args.includes(dir);
  } catch {
    return false;
  }
}
