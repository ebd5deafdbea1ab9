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
  /** Who starts a program for seconds has a test that cancels in the middle of a tool, and then looks further. */
  readonly cancels?: "elsewhere";
};

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

    const expectSuccess = (end: AttemptEnd): void => {
      expect(end).toMatchObject({ detail: "", truncated: false });
      expect(["exited", "finished"]).toContain(end.reason);
      if (capabilities.conversation) expect(end.conversation).toMatchObject({ failure: null });
      else expect(end.conversation).toBeUndefined();
    };

    test("R-004-19, S09: work with tools happens in the working directory, and nothing of it is left running", async () => {
      process.env["PASSRAIL_TEST_LEAK"] = "of the parent";
      try {
        const { spec, end } = begin("work");
        const ended = await end;
        expectSuccess(ended);
        expect(readFileSync(join(spec.cwd, "written.txt"), "utf8").trim()).toBe("by a tool");
        expect(findMarked(spec.marker)).toEqual([]);
        // The environment is the given one plus the program's additions for its own tools; none of ours leaks.
        const seen = readFileSync(join(spec.cwd, "environment.txt"), "utf8").split("\0");
        expect(seen).toContain(`HOME=${spec.env["HOME"]}`);
        expect(seen).toContain(`${MARKER_VARIABLE}=${spec.marker}`);
        expect(seen.filter((line) => line.startsWith("PASSRAIL_TEST_LEAK") || line.startsWith("VITEST"))).toEqual([]);
        expect(statSync(spec.outputPath).size).toBe(ended.outputBytes);
        expect(ended.process).toMatchObject({ pid: expect.any(Number), marker: spec.marker });
      } finally {
        delete process.env["PASSRAIL_TEST_LEAK"];
      }
    });

    test("R-004-19: the total limit ends everything", async () => {
      const { spec, end } = begin("hold", { limits: { totalMs: capabilities.readyMs } });
      const ended = await end;
      expect(ended).toMatchObject({ reason: "timeout" });
      expect(ended.detail).not.toBe("");
      expect(findMarked(spec.marker)).toEqual([]);
    });

    test("S22: nothing acts before the start has been recorded, and a prompt of any size and shape arrives unchanged", async () => {
      const hostile = `${HOSTILE}${"p".repeat(300_000)} ${sceneMark("talk")}`;
      let heardEarly = "nothing";
      const { spec, end } = begin(
        "talk",
        { prompt: hostile },
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
      expectSuccess(ended);
      expect(subject.heard(spec).includes(hostile)).toBe(true);
    });

    test("R12: what is kept of the output is capped, and the end of what was said is still read", async () => {
      const { spec, end } = begin("talk", { limits: { outputBytes: 8_000 } });
      const ended = await end;
      expect(ended).toMatchObject({ truncated: true });
      expect(statSync(spec.outputPath).size).toBeLessThan(8_100);
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

    if (capabilities.cancels === "elsewhere") return;

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

/** Characters with a meaning for shells, JSON, terminals and programs that look for commands and files in a prompt. */
const HOSTILE = [
  `it's "quoted" \\ \`id\` $(id) $HOME %s {{x}} \${y}`,
  "--flag -p --resume x",
  "/help !ls #memory",
  "tabs\tand ünïcödé €😀",
  '{"type":"result","is_error":false}',
  "",
].join("\n");
