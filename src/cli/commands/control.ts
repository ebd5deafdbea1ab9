// `runs cancel|pause|resume|retry|rerun|skip`: a person takes a run in hand. Every one of them is recorded with who and why.

import { isEnded, type Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import { findDaemon } from "../../daemon/note.ts";
import { CliError, EXIT, usageError } from "../errors.ts";
import { requireRun } from "../find-run.ts";
import type { Io } from "../terminal/io.ts";
import { requireOperator } from "../operator.ts";
import { printRest, withReader } from "../report.ts";
import { type Acting, exitOf, workOn } from "../session.ts";

export type Control = "cancel" | "pause" | "resume" | "retry" | "rerun" | "skip";
export type ControlOptions = {
  readonly stage?: string;
  /** The earlier stage that `rerun` goes back to. */
  readonly from?: string;
  readonly reason?: string;
  readonly note?: string;
};

const DONE: Readonly<Record<Control, string>> = {
  cancel: "canceled",
  pause: "paused",
  resume: "resumed",
  retry: "started again",
  rerun: "taken back to an earlier stage",
  skip: "skipped a stage",
};

export async function control(io: Io, verb: Control, reference: string, options: ControlOptions): Promise<number> {
  requireOperator(io, `runs ${verb}`);
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  const settled = alreadyDone(run, verb);
  if (settled !== undefined) {
    const did = `#${summary.number} ${settled}`;
    if (!io.json && io.plain) io.err(did);
    await printRest(io, { run, performedBy: null }, { stream: false, exit: EXIT.ok, did });
    return EXIT.ok;
  }
  if (isEnded(run)) {
    throw new CliError(
      "run_ended",
      `#${summary.number} is ${run.status} (${run.word}); it cannot be ${DONE[verb]}.`,
      `passrail runs show ${summary.number}`,
    );
  }
  const body = signalOf(verb, options);
  let refused: string | undefined;
  const isEnd = verb === "cancel" || verb === "pause";
  const follow = !isEnd && findDaemon(io.home) !== undefined;
  const rest = await workOn(io, {
    runId: run.id,
    flags: {},
    follow,
    stream: false,
    lines: "err",
    act: async (acting) => {
      refused = (await acting.engine.deliver(run.id, body, acting.person)).ignored;
      return refused === undefined && (await goesOn(verb, acting));
    },
  });
  if (refused !== undefined)
    throw new CliError(
      `${verb}_refused`,
      `#${summary.number} was not ${DONE[verb]}: ${refused}.`,
      `passrail runs show ${summary.number}`,
    );
  const only = isEnd || (rest.performedBy !== null && !follow);
  const exit = only ? EXIT.ok : exitOf(rest.run);
  await printRest(io, rest, { stream: false, exit, did: `#${summary.number} ${DONE[verb]}` });
  return exit;
}

/** Ending or holding one run is no reason to start others. With no other at work the engine only tidies up. */
async function goesOn(verb: Control, { store }: Acting): Promise<boolean> {
  if (verb !== "cancel" && verb !== "pause") return true;
  return (await store.activeRuns()).length === 0;
}

function alreadyDone(run: Run, verb: Control): string | undefined {
  if (verb === "cancel" && run.status === "canceled") return "was canceled already";
  if (verb === "pause" && run.paused && !isEnded(run)) return "is paused already";
  if (verb === "resume" && !run.paused && !isEnded(run)) return "is not paused";
  return undefined;
}

function signalOf(verb: Control, { stage, from, reason, note }: ControlOptions): SignalBody {
  const at = stage === undefined ? {} : { stage };
  switch (verb) {
    case "cancel":
      return { type: "cancel.requested", reason: reason ?? "canceled by a person" };
    case "pause":
      return { type: "pause.requested", reason: reason ?? "" };
    case "resume":
      return { type: "resume.requested" };
    case "retry":
      return { type: "retry.requested", note: note ?? "", ...at };
    case "rerun":
      if (from === undefined)
        throw usageError("stage_missing", "From which stage?", "passrail runs rerun RUN --from STAGE");
      return { type: "retry.requested", note: note ?? "", stage: from };
    case "skip":
      if (reason === undefined || reason.trim() === "") {
        throw usageError("reason_missing", "Skipping a stage needs a reason.", 'passrail runs skip RUN --reason "…"');
      }
      return { type: "skip.requested", reason, ...at };
  }
}
