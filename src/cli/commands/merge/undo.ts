// `undo`: takes back what landed although its run was canceled. Otherwise restores a branch that was cleaned up, under its own name or, if
// that is taken, a free one; that changes no existing branch.

import { lateLanding } from "../../../core/run/outward.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { branchHeads, pinnedCommits, restoreBranch } from "../../../ticket/land/branches.ts";
import { type LandingRun, runsOfTicket } from "../../../ticket/land/find.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { control } from "../runs/control.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { withReader } from "../../reader.ts";

const SHOWN = 100;

export async function undo(io: Io, ticket: string): Promise<number> {
  requireOperator(io, "undo");
  const runs = await withReader(io, async (store) => (store === undefined ? [] : runsOfTicket(store, ticket)));
  if (runs.length === 0)
    throw new CliError("ticket_not_found", `There are no runs of ${ticket}.`, "passrail undo --list");
  const late = runs.find(({ run }) => lateLanding(run)?.undoneBy === null);
  if (late !== undefined) return control(io, "undo", late.run.id, {});
  for (const each of runs) {
    const work = await workOf(each);
    if (work === undefined) continue;
    const restored = await restoreBranch(projectOf(each.run), work);
    if (!restored.ok) throw problemError(restored.error);
    const { type, branch, commit } = restored.value;
    if (io.json) printJson(io, { ticket, run: each.run.id, ...restored.value });
    else if (io.plain) io.out([ticket, type, branch, commit].join("\t"));
    else if (type === "there") io.out(`${branch} is there, at ${commit}; nothing was changed.`);
    else io.out(`${branch} is back, at ${commit}. Look at it: git log ${branch}`);
    return EXIT.ok;
  }
  throw new CliError(
    "nothing_to_restore",
    `No commit of ${ticket} was recorded, so there is nothing to restore.`,
    "passrail undo --list",
  );
}

export async function undoList(io: Io): Promise<number> {
  const rows = await withReader(io, async (store) => {
    if (store === undefined) return [];
    const found = [];
    for (const { newest } of await store.listSubjects({ limit: SHOWN })) {
      const [latest] = await runsOfTicket(store, newest.subject.id);
      const work = latest === undefined ? undefined : await workOf(latest);
      if (latest === undefined || work === undefined) continue;
      const heads = await branchHeads(projectOf(latest.run), [work.branch]);
      const now = heads.ok ? (heads.value[0] ?? null) : null;
      const state = now === null ? "gone" : now === work.commit ? "there" : "moved";
      found.push({ ticket: newest.subject.id, branch: work.branch, commit: work.commit, state, word: newest.word });
    }
    return found;
  });
  if (io.json) printJson(io, { branches: rows });
  else if (rows.length === 0 && !io.plain) io.out("No branch of a ticket is known.");
  else
    printTable(
      io,
      rows.map(({ ticket, branch, commit, state, word }) => [
        { name: "ticket", value: ticket },
        { name: "status", value: word },
        { name: "branch", value: branch },
        { name: "state", value: state, ...(state === "gone" ? { color: "yellow" as const } : {}) },
        { name: "commit", value: commit.slice(0, 12) },
      ]),
    );
  return EXIT.ok;
}

/** The approved commit, else the one that was pinned when the run's workspace was removed. */
async function workOf({ run, landed, approved }: LandingRun) {
  if (landed !== undefined) return { branch: landed.branch, commit: landed.approved };
  if (approved !== undefined) return approved;
  const pinned = await pinnedCommits(projectOf(run), run.id);
  const [commit] = pinned.ok ? pinned.value : [];
  return commit === undefined ? undefined : { branch: `passrail/${run.id}`, commit };
}

export function requireTicket(ticket: string | undefined): string {
  if (ticket !== undefined) return ticket;
  throw usageError("ticket_missing", "Which ticket's branch?", "passrail undo AGI-7, or: passrail undo --list");
}
