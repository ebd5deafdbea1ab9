// `runs cancel|pause|stop|resume|retry|rerun|skip|undo`: a person controls a run. The record says who did it and why.

import { checkControl, type ControlAction, type Controlled } from "../../../app/control-run.ts";
import type { AppProblem } from "../../../app/problem.ts";
import { optional } from "../../../core/optional.ts";
import { lateLanding, openActs } from "../../../core/run/outward.ts";
import type { Result } from "../../../core/result.ts";
import { findDaemon } from "../../../daemon/note.ts";
import type { RunSummary, Store } from "../../../store/store.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printRest } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { exitOf, type Rest, workOn } from "../../session.ts";
import { controlEvery } from "./control-every.ts";

export type Control = Exclude<ControlAction["type"], "steer" | "takeover" | "handback">;
export type ControlOptions = {
  readonly stage?: string;
  /** The earlier stage that `rerun` returns to. */
  readonly from?: string;
  readonly reason?: string;
  readonly note?: string;
  /** For `pause` and `resume`: every open run. */
  readonly all?: boolean;
  /** `STAGE=RUNNER`, for `retry`. */
  readonly agent?: readonly string[];
  /** `STAGE=MODEL`, for `retry`. */
  readonly model?: readonly string[];
};

const DONE: Readonly<Record<Control, string>> = {
  cancel: "canceled",
  pause: "paused",
  stop: "stopped and paused",
  resume: "resumed",
  retry: "started again",
  rerun: "taken back to an earlier stage",
  skip: "skipped a stage",
  undo: "taken back",
};

export async function control(
  io: Io,
  verb: Control,
  reference: string | undefined,
  options: ControlOptions,
): Promise<number> {
  requireOperator(io, `runs ${verb}`);
  if (options.all === true && reference === undefined && (verb === "pause" || verb === "resume"))
    return controlEvery(io, verb, options.reason ?? "");
  if (reference === undefined || options.all === true)
    throw usageError("run_missing", "Which run? Name one, or all of them.", `passrail runs ${verb} RUN   or   --all`);
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  const action = actionOf(io, verb, options);
  const checked = checkControl(run, summary.number, action);
  if (!checked.ok) throw refused(checked.error, verb, summary);
  if (checked.value === "so-already") {
    const did = `#${summary.number} ${SO_ALREADY[verb] ?? ""}`;
    if (!io.json && io.plain) io.err(did);
    await printRest(io, { run, performedBy: null }, { stream: false, exit: EXIT.ok, did });
    return EXIT.ok;
  }
  let controlled: Result<Controlled, AppProblem> | undefined;
  const isEnd = verb === "cancel" || verb === "pause" || verb === "stop";
  const follow = !isEnd && findDaemon(io.home) !== undefined;
  const rest = await workOn(io, {
    runId: run.id,
    flags: {},
    follow,
    stops: isEnd,
    stream: false,
    lines: "err",
    act: async ({ app, store, person }) => {
      controlled = await app.controlRun(run.id, action, { actor: person });
      return controlled.ok && (!isEnd || (await nothingWorks(store)));
    },
  });
  if (controlled?.ok === false) throw refused(controlled.error, verb, summary);
  if (verb === "undo") return afterUndo(io, rest, summary.number);
  const only = isEnd || (rest.performedBy !== null && !follow);
  const exit = only ? EXIT.ok : exitOf(rest.run);
  await printRest(io, rest, { stream: false, exit, did: `#${summary.number} ${DONE[verb]}` });
  return exit;
}

/** The process that performs takes it back; this one waits for what it sees. */
async function afterUndo(io: Io, rest: Rest, number: number): Promise<number> {
  const deadline = performance.now() + UNDO_MS;
  let { run } = rest;
  while (openActs(run).length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    run = (await withReader(io, (store) => requireRun(store, rest.run.id))).run;
  }
  const undoneBy = lateLanding(run)?.undoneBy ?? null;
  if (undoneBy === null)
    throw new CliError(
      "undo_failed",
      `#${number} was not taken back${openActs(run).length > 0 ? " yet" : ""}.`,
      `passrail runs events ${number}`,
    );
  await printRest(io, { ...rest, run }, { stream: false, exit: EXIT.ok, did: `#${number} taken back as ${undoneBy}` });
  return EXIT.ok;
}

const UNDO_MS = 60_000;

/** Ending or holding one run is no reason to start others. With no other at work the engine only tidies up. */
async function nothingWorks(store: Store): Promise<boolean> {
  return (await store.activeRuns()).length === 0;
}

const SO_ALREADY: Readonly<Partial<Record<Control, string>>> = {
  cancel: "was canceled already",
  pause: "is paused already",
  stop: "is paused already, and no agent works on it",
  resume: "is not paused",
  undo: "was taken back already",
};

function refused(
  { code, message, hint = "" }: AppProblem,
  verb: Control,
  { number, status, word }: RunSummary,
): CliError {
  const show = `passrail runs show ${number}`;
  if (code === "run_ended")
    return new CliError(code, `#${number} is ${status} (${word}); it cannot be ${DONE[verb]}.`, show);
  if (code !== "action_refused") return new CliError(code, message, hint);
  const why = message.replace(/^#[0-9]+: /u, "");
  return new CliError(`${verb}_refused`, `#${number} was not ${DONE[verb]}: ${why}`, show);
}

function actionOf(
  { cwd }: Io,
  verb: Control,
  { stage, from, reason = "", note = "", agent: agents = [], model: models = [] }: ControlOptions,
): ControlAction {
  switch (verb) {
    case "cancel":
    case "pause":
      return { type: verb, reason };
    case "stop":
      return { type: verb, reason, ...optional({ stage }) };
    case "resume":
    case "undo":
      return { type: verb };
    case "retry":
      return {
        type: verb,
        note,
        ...optional({ stage, with: agents.length + models.length === 0 ? undefined : { agents, models, cwd } }),
      };
    case "rerun":
      if (from === undefined)
        throw usageError("stage_missing", "From which stage?", "passrail runs rerun RUN --from STAGE");
      return { type: verb, note, from };
    case "skip":
      if (reason.trim() === "")
        throw usageError("reason_missing", "Skipping a stage needs a reason.", 'passrail runs skip RUN --reason "…"');
      return { type: verb, reason, ...optional({ stage }) };
  }
}
