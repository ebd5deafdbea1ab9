// `runs list`: the stored runs, newest first.

import { EXIT, usageError } from "../../errors.ts";
import type { RunSummary, Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";
import { statusColor } from "../../terminal/status-color.ts";
import { withReader } from "../../reader.ts";
import { firstToResume } from "../../terminal/run-view.ts";
import { runState } from "../../../core/view/run-state.ts";
import { type RunStateName, STATE_WORDS } from "../../../core/view/state-words.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { optional } from "../../../core/optional.ts";

export type RunListOptions = {
  readonly status?: string;
  readonly flow?: string;
  readonly limit: string;
  readonly before?: string;
};

export async function runsList(io: Io, options: RunListOptions): Promise<number> {
  const limit = wholeNumber(options.limit, "--limit", 1000);
  const before =
    options.before === undefined ? {} : { before: wholeNumber(options.before.replace(/^#/u, ""), "--before", 2 ** 40) };
  const filter = {
    ...optional({ word: options.status, flow: options.flow }),
    ...before,
  };
  const runs = await withReader(io, async (store): Promise<readonly ListedRun[]> => {
    const found = (await store?.listRuns({ ...filter, limit })) ?? [];
    return Promise.all(found.map(async (run) => ({ ...run, ...(await standing(store, run)) })));
  });
  if (io.json) printJson(io, { runs });
  else if (io.quiet) for (const { id } of runs) io.out(id);
  else if (runs.length === 0) io.err('No runs. Start one:  passrail run FLOW "text"    See flows:  passrail flow list');
  else
    printTable(
      io,
      runs.map((run) => listRow(io, run)),
    );
  return EXIT.ok;
}

/** `resumes`: when a postponed run resumes; empty for every other run. */
type ListedRun = RunSummary & { readonly resumes: string; readonly state: RunStateName };

/** In the words of the dashboard: only a run with a working attempt is called working. */
async function standing(
  store: Store | undefined,
  { id, status }: RunSummary,
): Promise<Omit<ListedRun, keyof RunSummary>> {
  const stored = status === "running" || status === "waiting" ? await store?.loadRun(id) : undefined;
  if (store === undefined || stored === undefined)
    return { resumes: "", state: status === "running" ? "queued" : status };
  const { is } = runState(await flowOf(store, stored.run), stored.run, Date.now());
  return { resumes: firstToResume(stored.run), state: is };
}

function listRow(io: Io, run: ListedRun) {
  const shown = STATE_WORDS[run.state].toLowerCase();
  const word = run.word.toLowerCase() === shown ? shown : `${shown} (${run.word})`;
  const status = run.resumes === "" ? word : `${word}, ${run.resumes}`;
  const cells = io.plain
    ? [
        run.id,
        String(run.number),
        run.status,
        run.word,
        run.flow,
        run.stage ?? "",
        run.subject.id,
        run.createdAt,
        run.updatedAt,
        run.subject.title,
        ...(run.resumes === "" ? [] : [run.resumes]),
      ]
    : [`#${run.number}`, run.id, status, run.flow, run.stage ?? "", age(run.updatedAt), run.subject.title];
  return cells.map((value, index) =>
    index === 2 && !io.plain ? { name: "", value, color: statusColor(run.status) } : { name: "", value },
  );
}

function wholeNumber(text: string, flag: string, max: number): number {
  const value = Number(text);
  if (!/^[0-9]+$/u.test(text) || value < 1 || value > max)
    throw usageError("number_invalid", `${flag} ${text}: expected a whole number from 1 to ${max}.`);
  return value;
}
