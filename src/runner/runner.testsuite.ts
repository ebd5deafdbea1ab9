// The rules for every runner, whichever program it drives. A runner's own test file makes its program play the scenes.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { findMarked, isAlive } from "./process/process-table.ts";
import {
  type AttemptEnd,
  type AttemptHooks,
  type AttemptLimits,
  type AttemptSpec,
  MARKER_VARIABLE,
  type Runner,
} from "./runner.ts";

/** The agent's actions in an attempt, in its working directory. */
export type Scene =
  /** Writes `written.txt` with the text "by a tool", and its environment to `environment.txt` as `env -0` prints it; then succeeds. */
  | "work"
  /** Starts a program that leaves the process group, writes `held.txt`, and waits for ever. */
  | "hold"
  /** Says `SPEECH` and succeeds. */
  | "talk";

/** 13,000 characters in one line. No word comes twice: some programs take repetition for a model stuck in a loop. */
export const SPEECH = Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(" ");

/** The name of a scene in the prompt. */
export const sceneMark = (scene: Scene): string => `SCENE-${scene}`;

export type Overrides = Partial<Omit<AttemptSpec, "limits">> & { readonly limits?: Partial<AttemptLimits> };

export type RunnerUnderTest = {
  create(): Runner;
  /** An attempt in a new working directory. The prompt is `sceneMark(scene)` unless the overrides say otherwise. */
  spec(scene: Scene, overrides: Overrides): AttemptSpec;
  /** The prompt that the agent received in this attempt. */
  heard(spec: AttemptSpec): string;
  close(): Promise<void>;
};

export type Capabilities = {
  /** It reports metadata besides text. */
  readonly conversation: boolean;
  /** From its start to its first act on a busy machine. */
  readonly readyMs: number;
  /** Who starts a program for seconds works and cancels in tests of its own, which need the same attempts for more (`expectWork`). */
  readonly worksAndCancels?: "elsewhere";
  /** Its output begins with its prompt. */
  readonly echoes?: boolean;
};

const LEAK = "PASSRAIL_TEST_LEAK";

/** While `act` lasts, this process has a variable that no agent may get. */
export async function withLeak<T>(act: () => Promise<T>): Promise<T> {
  process.env[LEAK] = "of the parent";
  try {
    return await act();
  } finally {
    delete process.env[LEAK];
  }
}

/** After the scene `work` in an attempt that ran `withLeak`. */
export function expectWork(spec: AttemptSpec, end: AttemptEnd): void {
  expect(readFileSync(join(spec.cwd, "written.txt"), "utf8").trim()).toBe("by a tool");
  expect(findMarked(spec.marker)).toEqual([]);
  // The environment is the given one plus the program's additions for its own tools; none of ours leaks.
  const seen = readFileSync(join(spec.cwd, "environment.txt"), "utf8").split("\0");
  expect(seen).toContain(`HOME=${spec.env["HOME"]}`);
  expect(seen).toContain(`${MARKER_VARIABLE}=${spec.marker}`);
  expect(seen.filter((line) => line.startsWith(LEAK) || line.startsWith("VITEST"))).toEqual([]);
  expect(statSync(spec.outputPath).size).toBe(end.outputBytes);
  expect(end.process).toMatchObject({ pid: expect.any(Number), marker: spec.marker });
}

export function runnerSuite(name: string, capabilities: Capabilities, open: () => Promise<RunnerUnderTest>): void {
  describe(`what every runner does: ${name}`, { timeout: 60_000 + 4 * capabilities.readyMs }, () => {
    let subject: RunnerUnderTest;
    const markers: string[] = [];
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());
    afterEach(() => {
      expect(markers.splice(0).flatMap((marker) => findMarked(marker))).toEqual([]);
    });

    const begin = (scene: Scene, overrides: Overrides = {}, hooks: Partial<AttemptHooks> = {}) => {
      const spec = subject.spec(scene, overrides);
      markers.push(spec.marker);
      return { spec, end: subject.create().run(spec, { signal: new AbortController().signal, ...hooks }) };
    };

    test("R-004-19: the total limit ends everything", async () => {
      const { spec, end } = begin("hold", { limits: { totalMs: capabilities.readyMs } });
      const ended = await end;
      expect(ended).toMatchObject({ reason: "timeout" });
      expect(ended.detail).not.toBe("");
      expect(findMarked(spec.marker)).toEqual([]);
    });

    test("S22, R12: nothing acts before the start has been recorded, a prompt of any size and shape arrives unchanged, and of a long answer the kept part is capped and the end still read", async () => {
      // Twenty times as much would end the attempt.
      const outputBytes = capabilities.echoes === true ? 24_000 : 8_000;
      const hostile = `${HOSTILE}${"p".repeat(300_000)} ${sceneMark("talk")}`;
      let heardEarly = "nothing";
      const { spec, end } = begin(
        "talk",
        { prompt: hostile, limits: { outputBytes } },
        {
          onStarted: async (identity) => {
            // Longer than a program needs to start.
            await delay(1_000);
            expect(isAlive(identity)).toBe(true);
            heardEarly = subject.heard(spec);
          },
        },
      );
      const ended = await end;
      expect(heardEarly).toBe("");
      expectSuccess(ended, capabilities, { truncated: true });
      expect(subject.heard(spec).includes(hostile)).toBe(true);
      expect(statSync(spec.outputPath).size).toBeLessThan(outputBytes + 100);
      expect(readFileSync(spec.outputPath, "utf8")).toContain("bytes left out]");
      expect(ended.stdoutTail).toContain(SPEECH);
    });

    test("R-004-19: a program that does not exist is agent_not_found and named", async () => {
      const end = await begin("talk", { argv: ["no-such-agent-program"] }).end;
      expect(end).toMatchObject({ reason: "agent_not_found", process: null, outputBytes: 0 });
      expect(end.detail).toContain("no-such-agent-program");
    });

    test("an attempt that is canceled before its start never has a process", async () => {
      const { spec, end } = begin("work", {}, { signal: AbortSignal.abort() });
      expect(await end).toMatchObject({ reason: "canceled", process: null });
      expect(subject.heard(spec)).toBe("");
    });

    if (capabilities.worksAndCancels === "elsewhere") return;

    test("R-004-19, S09: work with tools happens in the working directory, and nothing of it is left running", async () => {
      const { spec, ended } = await withLeak(async () => {
        const begun = begin("work");
        return { spec: begun.spec, ended: await begun.end };
      });
      expectSuccess(ended, capabilities);
      expectWork(spec, ended);
    });

    test("R-001-39: canceling in the middle of a tool ends everything, also what left the process group", async () => {
      const cancel = new AbortController();
      const { spec, end } = begin("hold", {}, { signal: cancel.signal });
      await until("the tool holds", () => existsSync(join(spec.cwd, "held.txt")) || undefined, 30_000);
      expect(findMarked(spec.marker).length).toBeGreaterThan(1);
      cancel.abort();
      expect(await end).toMatchObject({ reason: "canceled" });
      expect(findMarked(spec.marker)).toEqual([]);
    });
  });
}

function expectSuccess(end: AttemptEnd, { conversation }: Capabilities, { truncated = false } = {}): void {
  expect(end).toMatchObject({ detail: "", truncated });
  expect(["exited", "finished"]).toContain(end.reason);
  if (conversation) expect(end.conversation).toMatchObject({ failure: null });
  else expect(end.conversation).toBeUndefined();
}

/** Characters with a meaning for shells, JSON, terminals and programs that look for commands and files in a prompt. */
const HOSTILE = [
  `it's "quoted" \\ \`id\` $(id) $HOME %s {{x}} \${y}`,
  "--flag -p --resume x",
  "/help !ls #memory",
  "tabs\tand ünïcödé €😀",
  '{"type":"result","is_error":false}',
  "",
].join("\n");
