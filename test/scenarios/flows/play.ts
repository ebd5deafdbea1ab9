// Plays a script through the real `flow simulate` and gives back what a program would read from its output.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flowSimulate } from "../../../src/cli/commands/flow/simulate.ts";
import { CliError } from "../../../src/cli/errors.ts";
import type { Io } from "../../../src/cli/terminal/io.ts";
import type { Final, TraceLine } from "../../../src/core/run/simulate.ts";

export type Played = {
  readonly trace: readonly TraceLine[];
  readonly final: Final;
  /** The lines for which an agent was asked, in order: "build 2". */
  readonly attempts: readonly string[];
  /** Every status word in the order in which it was shown. */
  readonly statuses: readonly string[];
  readonly warnings: readonly string[];
};

/** A script is written as in a file: objects, in order. */
export type Script = readonly object[];

export async function play(flow: string, script: Script, input: readonly string[] = []): Promise<Played> {
  const { lines, error } = await simulate(flow, script, input);
  if (error !== undefined) throw error;
  const last = lines.at(-1) as { final: Final };
  const trace = lines.slice(0, -1) as TraceLine[];
  return {
    trace,
    final: last.final,
    attempts: trace.filter(({ event }) => event === "stage").map(({ stage, attempt }) => `${stage} ${attempt}`),
    statuses: trace.flatMap(({ statuses }) => statuses),
    warnings: trace.flatMap(({ warnings }) => warnings),
  };
}

/** The error of a script that does not fit, and what was printed before it. */
export async function playRefused(
  flow: string,
  script: Script,
): Promise<{ code: string; message: string; lines: number }> {
  const { lines, error } = await simulate(flow, script, []);
  if (error === undefined) throw new Error("the script was accepted");
  return { code: error.code, message: error.message, lines: lines.length };
}

async function simulate(flow: string, script: Script, input: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "passrail-flows-"));
  const printed: string[] = [];
  const io: Io = {
    out: (line) => printed.push(line),
    err: () => {},
    json: true,
    plain: true,
    quiet: false,
    color: false,
    tty: false,
    columns: 0,
    environment: {},
    cwd: folder,
    home: join(folder, "home"),
  };
  try {
    const file = join(folder, "outcomes.json");
    writeFileSync(file, JSON.stringify(script));
    await flowSimulate(io, flow, { outcomes: file, input });
    return { lines: printed.map((line) => JSON.parse(line) as unknown), error: undefined };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { lines: printed.map((line) => JSON.parse(line) as unknown), error };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One row of a table of scripts. */
export type Row = {
  readonly name: string;
  readonly flow?: string;
  readonly script: Script;
  readonly input?: readonly string[];
  readonly final: Partial<Final>;
  readonly attempts?: readonly string[];
};
