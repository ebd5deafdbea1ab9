// `merge`: lands the work of a completed run of any flow, or opens a pull request for it, as a run of the flow `land`. `discard`: removes
// the branch of a run that has ended; its commit stays pinned.

import { openLanding } from "../../../app/run-end.ts";
import type { Result } from "../../../core/result.ts";
import type { DoneSight } from "../../../core/run/outward-act.ts";
import { loadSettings } from "../../../settings/load.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { discardWork } from "../../../ticket/land/discard.ts";
import { discardable, type FinishedWork, landable, planLanding } from "../../../ticket/land/finished.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { endOf } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { startRun } from "../run/run.ts";

export type MergeOptions = { readonly pr: boolean };

export async function merge(io: Io, reference: string, { pr }: MergeOptions): Promise<number> {
  requireOperator(io, "merge");
  const { work, landing } = await endedRun(io, reference);
  const kept = landable(work);
  if (!kept.ok) throw problemError(kept.error);
  if (landing !== undefined)
    throw new CliError(
      "landing_already",
      `#${landing.number} lands the work of #${work.number} already.`,
      `passrail runs show ${landing.number}`,
    );
  const { environment, home } = io;
  const settings = (project: string) => loadSettings({ home, environment, project, flags: {} });
  const plan = await planLanding({ home, settings }, work, kept.value, { pr });
  if (!plan.ok) throw problemError(plan.error);
  return startRun(io, { ...plan.value, flags: {} });
}

export async function discard(io: Io, reference: string): Promise<number> {
  requireOperator(io, "discard");
  const { work } = await endedRun(io, reference);
  const { run } = work;
  const kept = discardable(work);
  if (!kept.ok) throw problemError(kept.error);
  const { branch, tip } = kept.value;
  let gone: Result<DoneSight> | undefined;
  await workOn(io, {
    runId: run.id,
    flags: {},
    follow: false,
    stops: true,
    stream: false,
    lines: "err",
    async act({ engine, store, person }) {
      gone = await discardWork({ engine, store, now: () => new Date().toISOString() }, run, tip, person);
      return false;
    },
  });
  if (gone?.ok !== true) throw problemError(gone?.error ?? { code: "discard_failed", message: "Nothing was done." });
  const back = `passrail undo ${run.subject.id}`;
  const { keptAs = "" } = gone.value;
  if (io.json) printJson(io, { run: run.id, branch, commit: tip, keptAs, restore: back });
  else if (io.plain) io.out([run.id, branch, tip, keptAs].join("\t"));
  else io.out(`${branch} is removed; ${keptAs} keeps its commit ${tip}. ${back}   restores it`);
  return EXIT.ok;
}

async function endedRun(io: Io, reference: string) {
  return withReader(io, async (store) => {
    const { run, summary } = await requireRun(store, reference);
    const { number } = summary;
    const resolved = store === undefined ? undefined : await flowOf(store, run);
    const work: FinishedWork = { run, number, end: await endOf(store, { run, number, resolved }) };
    return { work, landing: store === undefined ? undefined : await openLanding(store, run) };
  });
}
