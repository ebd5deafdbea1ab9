// `merge`: lands the work of a completed run of any flow, or opens a pull request for it, as a run of the flow `land`. `discard`: removes
// the branch of a run that has ended; its commit stays pinned.

import { requireResolvedFlow } from "../flow/catalog.ts";
import { runIdOf } from "../../../app/run-id.ts";
import { prepareRun } from "../../../app/start-run/prepare.ts";
import type { Result } from "../../../core/result.ts";
import type { DoneSight } from "../../../core/run/outward-act.ts";
import { jointOf } from "../../../core/run/joint.ts";
import { isEnded, type Run } from "../../../core/run/run.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import type { RunEnd } from "../../../core/view/run-end.ts";
import { loadSettings } from "../../../settings/load.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { discardWork } from "../../../ticket/land/discard.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { endOf, withReader } from "../../report.ts";
import { workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { startRun } from "../run/run.ts";

export type MergeOptions = { readonly pr: boolean };

export async function merge(io: Io, reference: string, { pr }: MergeOptions): Promise<number> {
  requireOperator(io, "merge");
  const { run, number, end } = await endedRun(io, reference);
  if (run.status !== "completed")
    throw new CliError(
      "not_completed",
      `#${number} is ${run.status}; only the work of a completed run is merged.`,
      `passrail runs show ${number}`,
    );
  refuseSeveral(run, number, end);
  const { branch } = requireBranch(end, number);
  const project = projectOf(run);
  const config = await loadSettings({ home: io.home, environment: io.environment, project, flags: {} });
  if (!config.ok) throw problemError(config.error);
  const resolved = requireResolvedFlow({ ...io, cwd: project }, "land");
  const { subject } = run;
  const prepared = await prepareRun(
    {
      resolved,
      subject,
      project,
      cwd: project,
      input: [
        ["land.run", run.id],
        ["land.branch", branch],
        ["config.merge_mode", pr ? "pr" : "merge"],
      ],
      runners: [],
      workspace: "worktree",
    },
    config.value,
  );
  if (!prepared.ok) throw problemError(prepared.error);
  const { facts, texts, resolved: limited } = prepared.value;
  return startRun(io, { runId: runIdOf(), resolved: limited, subject, facts, texts, flags: {} });
}

export async function discard(io: Io, reference: string): Promise<number> {
  requireOperator(io, "discard");
  const { run, number, end } = await endedRun(io, reference);
  if (!isEnded(run))
    throw new CliError("run_not_ended", `#${number} is ${run.status}.`, `passrail runs cancel ${number}`);
  refuseSeveral(run, number, end);
  const { branch, tip } = requireBranch(end, number);
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
    return { run, number, end: await endOf(store, { run, number, resolved }) };
  });
}

/** One act cannot merge or discard the branches of several repositories. */
function refuseSeveral(run: Run, number: number, end: RunEnd | null): void {
  if (jointOf(run) === null) return;
  const commands = (end?.commands ?? []).map(({ command }) => command).join("\n");
  throw new CliError(
    "several_repositories",
    `#${number} has a branch in each of several repositories; merge or remove them there.`,
    commands === "" ? `passrail runs show ${number}` : commands,
  );
}

/** The branch whose work has not left it yet. */
function requireBranch(end: RunEnd | null, number: number): { readonly branch: string; readonly tip: string } {
  if (end?.state === "kept" && end.branch !== null && end.tip !== null) return { branch: end.branch, tip: end.tip };
  const why = end === null ? `#${number} has not ended` : end.text;
  throw new CliError(
    "nothing_to_merge",
    `There is no branch with unmerged work: ${why}`,
    `passrail runs show ${number}`,
  );
}
