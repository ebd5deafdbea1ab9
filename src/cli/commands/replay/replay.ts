// `replay`: repeats the recorded attempts of a run offline, and prints whether they had the same results.

import { existsSync, realpathSync } from "node:fs";
import { replayRun, type ReplayedAttempt, type ReplayReport } from "../../../app/replay/replay-run.ts";
import { nameOf } from "../../../app/replay/find-taped.ts";
import { optional } from "../../../core/optional.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { loadSettings } from "../../../settings/load.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { catchSignals } from "../../interrupt.ts";
import { requireOperator } from "../../operator.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { ensureTrusted } from "../../trust.ts";
import { resultText, showSwap } from "./swap.ts";

export type ReplayFlags = {
  readonly stage?: string;
  readonly swap?: string;
  readonly model?: string;
  readonly workspace?: string;
};

export async function replay(io: Io, reference: string, flags: ReplayFlags): Promise<number> {
  const { stage, swap, model, workspace } = flags;
  requireOperator(io, "replay");
  if (swap !== undefined && stage !== undefined)
    throw usageError("flag_conflict", "--swap names the stage itself; leave --stage out.");
  if (swap === undefined && model !== undefined) throw usageError("flag_conflict", "--model needs --swap.");
  await ensureTrusted(io);
  return withReader(io, async (store) => {
    const found = await requireRun(store, reference);
    if (store === undefined) throw new CliError("run_not_found", `There is no run ${reference}.`);
    const own = projectOf(found.run);
    const project = existsSync(own) ? own : io.cwd;
    // The repository of an imported run is its author's: it sets nothing here.
    const asked = found.run.imported === undefined ? project : io.cwd;
    const settings = await loadSettings({ home: io.home, environment: io.environment, project: asked, flags: {} });
    if (!settings.ok) throw problemError(settings.error);
    const stop = new AbortController();
    const signals = catchSignals(async () => {});
    void signals.caught.then(() => stop.abort());
    const site = {
      home: realpathSync(io.home),
      project,
      environment: io.environment,
      settings: settings.value,
      store,
      ...optional({ workspace }),
      signal: stop.signal,
      onAttempt: (name: string) => void (io.quiet || io.json || io.err(`replaying ${name}`)),
    };
    try {
      if (swap !== undefined) return await showSwap(io, site, found, { choice: swap, ...optional({ model }) });
      const report = await replayRun(site, found, stage);
      if (!report.ok) throw problemError(report.error, stop.signal.aborted ? EXIT.interrupted : EXIT.error);
      printReport(io, report.value);
      return report.value.attempts.every(isSame) ? EXIT.ok : EXIT.unsuccessful;
    } finally {
      signals.release();
    }
  });
}

/** Whether all results are the same: the verdict, its payload, and an answer for every request. */
function isSame({ sameVerdict, differs, requests }: ReplayedAttempt): boolean {
  return sameVerdict && differs.length === 0 && requests.unanswered.length === 0;
}

function printReport(io: Io, report: ReplayReport): void {
  if (io.json) return printJson(io, report);
  if (io.quiet) return;
  printTable(
    io,
    report.attempts.map((each) => [
      { name: "Attempt", value: nameOf(each) },
      { name: "Runner", value: each.runner },
      { name: "Verdict", value: each.sameVerdict ? "same" : "different", color: each.sameVerdict ? "green" : "red" },
      {
        name: "Result",
        value: resultText(each.recorded) + (each.sameVerdict ? "" : ` -> ${resultText(each.replayed)}`),
      },
      { name: "Payload", value: each.differs.length === 0 ? "same" : `different: ${each.differs.join(", ")}` },
      { name: "Diff", value: each.sameDiff ? "same" : "different" },
      { name: "Requests", value: requestsText(each) },
    ]),
  );
  for (const each of report.attempts) for (const line of notesOn(each)) io.out(plainText(line, io.color));
  for (const each of report.leftOut)
    io.out(paint(io, "dim", `${nameOf(each)}: not replayed: ${oneLine(each.why, 200)}`));
}

function requestsText({ requests: { onTape, same, different, unanswered } }: ReplayedAttempt): string {
  const parts = [
    `${same + different.length} of ${onTape} from the tape`,
    ...(different.length === 0 ? [] : [`${different.length} with differences`]),
    ...(unanswered.length === 0 ? [] : [`${unanswered.length} without an answer`]),
  ];
  return parts.join(", ");
}

const SHOWN = 5;

function notesOn(attempt: ReplayedAttempt): readonly string[] {
  const name = nameOf(attempt);
  const { different, unanswered } = attempt.requests;
  return [
    ...unanswered.slice(0, SHOWN).map((why) => `${name}: a request got no answer: ${oneLine(why, 400)}`),
    ...different.slice(0, SHOWN).map(({ number, differences }) => {
      const [first] = differences;
      const what = `"${oneLine(first?.replayed ?? "", 80)}" instead of "${oneLine(first?.recorded ?? "", 80)}"`;
      const more = differences.length > 1 ? `, and ${differences.length - 1} more` : "";
      return `${name}: request ${number} differs at ${oneLine(first?.where ?? "", 80)}: ${what}${more}`;
    }),
    ...(attempt.sameVerdict || attempt.replayed.reason === null
      ? []
      : [`${name}: ${oneLine(attempt.replayed.reason, 400)}`]),
    ...(attempt.without === null ? [] : [`${name}: ${attempt.without}`]),
  ];
}
