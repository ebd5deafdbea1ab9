// `runs takeover` and `runs handback`: a person continues in an agent's session and folder, and gives both back. The process that performs the
// run ends the agent, prepares the folder and takes it back; these commands wait for it.

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlAction, Controlled } from "../../../app/control-run.ts";
import type { AppProblem } from "../../../app/problem.ts";
import { type Takeover, takeoverSettled } from "../../../app/takeover.ts";
import { optional } from "../../../core/optional.ts";
import type { Result } from "../../../core/result.ts";
import { type Run, takenOver } from "../../../core/run/run.ts";
import { takenText, takeoverLine } from "../../../core/view/taken-over.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { withReader } from "../../reader.ts";
import { type ForegroundTools, workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";
import { oneLine } from "../../terminal/plain-text.ts";

export type TakeoverOptions = { readonly stage?: string; readonly print: boolean };
export type HandbackOptions = { readonly note?: string; readonly discard: boolean };

/** The agent gets some seconds to end, and git may have much to commit. */
const WAIT_MS = 60_000;
const LOOK_MS = 100;

export async function takeover(io: Io, reference: string, { stage, print }: TakeoverOptions): Promise<number> {
  requireOperator(io, "runs takeover");
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  let found: Takeover | null = null;
  const look = async ({ app }: ForegroundTools): Promise<void> => {
    const described = await app.describeRun(run.id);
    found = described.ok ? described.value.takeover : null;
  };
  const action: ControlAction = { type: "takeover", ...optional({ stage }) };
  const after = await act(io, { run, number: summary.number, action, refused: "takeover_refused" }, look);
  const dir = takenOver(after)?.track.lent?.dir ?? null;
  const given: Takeover | null = found === null ? null : { ...(found as Takeover), dir };
  if (given === null || dir === null)
    throw new CliError(
      "takeover_pending",
      `#${summary.number}: ${whyNot(after)}`,
      `passrail runs show ${summary.number}`,
    );
  if (io.json) io.out(JSON.stringify({ run: run.id, takeover: { ...given, line: takeoverLine(given) } }));
  else await open(io, summary.number, given, print);
  return EXIT.ok;
}

function whyNot(run: Run): string {
  if (run.status === "stopped") return run.reason;
  return takenText(run) ?? "the stage ended before it could be taken over";
}

export async function handback(io: Io, reference: string, { note = "", discard }: HandbackOptions): Promise<number> {
  requireOperator(io, "runs handback");
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  const { number } = summary;
  const action: ControlAction = { type: "handback", note, discard };
  const after = await act(io, { run, number, action, refused: "handback_refused" });
  const track = takenOver(after)?.track;
  if (track !== undefined) {
    const why = track.refused ?? takenText(after) ?? "";
    throw new CliError("handback_refused", `#${number} was not handed back: ${why}`, `passrail runs show ${number}`);
  }
  if (io.json) io.out(JSON.stringify({ run: run.id, status: after.status }));
  else io.out(`#${number} handed back: its stage continues.    passrail runs watch ${number}`);
  return EXIT.ok;
}

type Act = {
  readonly run: Run;
  readonly number: number;
  readonly action: ControlAction;
  readonly refused: string;
};

/** The run after the engine has acted on it. */
async function act(
  io: Io,
  { run, number, action, refused }: Act,
  then?: (tools: ForegroundTools) => Promise<void>,
): Promise<Run> {
  let controlled: Result<Controlled, AppProblem> | undefined;
  const rest = await workOn(io, {
    runId: run.id,
    flags: {},
    follow: false,
    stream: false,
    lines: "err",
    act: async (tools) => {
      controlled = await tools.app.controlRun(run.id, action, { actor: tools.person });
      if (controlled.ok) await then?.(tools);
      return controlled.ok;
    },
  });
  if (controlled?.ok === false) {
    const { code, message, hint = `passrail runs show ${number}` } = controlled.error;
    throw new CliError(code === "action_refused" ? refused : code, message, hint);
  }
  const settled = await withReader(io, async (store) =>
    store === undefined ? undefined : takeoverSettled(store, run.id, { waitMs: WAIT_MS, pause: () => sleep(LOOK_MS) }),
  );
  return settled ?? rest.run;
}

/** Starts the vendor's program on a terminal, otherwise says how. */
async function open(io: Io, number: number, taken: Takeover, print: boolean): Promise<void> {
  const done = `When you are done:  passrail runs handback ${number} --note "…"`;
  const line = takeoverLine(taken);
  if (taken.command === null || print || !io.tty) {
    io.err(`#${number} ${taken.stage} is yours.${taken.note === "" ? "" : ` ${taken.note}`}`);
    io.out(line);
    io.err(done);
    return;
  }
  io.err(`#${number} ${taken.stage} is yours. Opening its session:  ${oneLine(line, 400)}`);
  const failed = await inTerminal(io, taken);
  if (failed !== null) io.err(`The program did not start: ${failed}`);
  io.err(done);
}

function inTerminal({ environment }: Io, { command, dir, env }: Takeover): Promise<string | null> {
  const [program = "", ...args] = command ?? [];
  // As `cd` would: opencode goes by this variable, and would wait for ever for events of the person's own folder.
  const here = dir === null ? {} : { PWD: dir };
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: dir ?? undefined,
      env: { ...environment, ...env, ...here },
      stdio: "inherit",
    });
    child.once("error", (error) => resolve(error.message));
    child.once("exit", () => resolve(null));
  });
}
