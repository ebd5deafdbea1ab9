// `done`: a person marks a ticket's pull request as merged, and Passrail checks it first. `merge-queue`: work that is landing or waits
// to be merged.

import { optional } from "../../../core/optional.ts";
import type { Result } from "../../../core/result.ts";
import { type LandingRun, runsOfTicket, runsOnTheWay } from "../../../ticket/land/find.ts";
import { checkMerge, markMerged } from "../../../ticket/land/mark-merged.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";
import { printRest } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { exitOf, workOn } from "../../session.ts";

export type DoneOptions = { readonly commit?: string; readonly force: boolean; readonly reason?: string };

const SHOWN = 500;

export async function done(io: Io, ticket: string, options: DoneOptions): Promise<number> {
  requireOperator(io, "done");
  if (options.force && (options.reason ?? "").trim() === "")
    throw usageError("reason_missing", "--force needs a reason.", `passrail done ${ticket} --force --reason "…"`);
  const found = await waitingRun(io, ticket);
  const { run, number } = found;
  const { force, commit, reason = "" } = options;
  const seen = await checkMerge(io, found, force ? { unproven: reason } : optional({ commit }));
  if (!seen.ok) throw problemError(seen.error);
  let marked: Result<string> | undefined;
  const rest = await workOn(io, {
    runId: run.id,
    flags: {},
    follow: false,
    stream: false,
    lines: "err",
    act: async ({ engine, person }) => {
      marked = await markMerged(engine, found, seen.value, person);
      return marked.ok;
    },
  });
  if (marked?.ok !== true)
    throw problemError({
      ...(marked?.error ?? { code: "done_refused", message: "Nothing was done." }),
      hint: `passrail runs show ${number}`,
    });
  const exit = rest.performedBy === null ? exitOf(rest.run) : EXIT.ok;
  await printRest(io, rest, {
    stream: false,
    exit,
    did: `#${number} ${run.subject.id}: ${marked.value}`,
  });
  return exit;
}

/** The ticket's waiting run, else its newest. The reference may also be a run's number or id. */
async function waitingRun(io: Io, reference: string): Promise<LandingRun> {
  return withReader(io, async (store) => {
    const runs = store === undefined ? [] : await runsOfTicket(store, reference);
    const own = runs.find(({ waits }) => waits !== undefined) ?? runs[0];
    if (own !== undefined) return own;
    const { run, summary } = await requireRun(store, reference);
    const same = store === undefined ? [] : await runsOfTicket(store, run.subject.id);
    const found = same.find((each) => each.run.id === summary.id);
    if (found === undefined) throw new CliError("run_not_found", `There is no run of ${reference}.`);
    return found;
  });
}

export async function mergeQueue(io: Io): Promise<number> {
  const runs = await withReader(io, async (store) => (store === undefined ? [] : runsOnTheWay(store, SHOWN)));
  if (io.json) {
    printJson(io, { merges: runs.map(rowOf) });
    return EXIT.ok;
  }
  if (runs.length === 0) {
    if (!io.plain) io.out("No work is landing or waits to be merged.");
    return EXIT.ok;
  }
  printTable(
    io,
    runs.map((each) => {
      const { number, ticket, state, branch, target, since, url } = rowOf(each);
      const where = branch === null ? "" : `${branch} → ${target ?? ""}`;
      return [
        { name: "run", value: `#${number}` },
        { name: "ticket", value: ticket },
        { name: "state", value: state },
        { name: "where", value: where },
        { name: "since", value: since === null ? "" : age(since) },
        { name: "url", value: url ?? "" },
      ];
    }),
  );
  return EXIT.ok;
}

function rowOf({ run, number, waits, landed, approved }: LandingRun) {
  const known = waits === undefined ? undefined : landed;
  return {
    number,
    ticket: run.subject.id,
    title: run.subject.title,
    state: waits === undefined ? "landing" : "awaiting merge",
    branch: known?.branch ?? approved?.branch ?? null,
    commit: known?.approved ?? approved?.commit ?? null,
    target: known?.target ?? null,
    since: waits?.since ?? null,
    url: known?.pr?.url ?? null,
  };
}
