// Collects the loose ends of the inbox: from the runs of the store, and from the files of one project. The readings themselves are in
// core/view/loose-end.ts.

import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { catalogFolders, loadCatalog } from "../catalog/catalog.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { ticketProject } from "../core/run/facts.ts";
import { openItems, type Run } from "../core/run/run.ts";
import { projectOf } from "../core/run/run-settings.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import type { RefusedStarts } from "../core/ticket/cannot-start.ts";
import type { TicketPlan } from "../core/ticket/plan.ts";
import type { TicketScan } from "../core/ticket/ticket.ts";
import { waitingMerge } from "../core/run/waiting-merge.ts";
import {
  brokenCatalogEnds,
  inOrder,
  type LooseEnd,
  proposedEnd,
  stoppedEnd,
  ticketEnds,
  trustEnd,
  unmergedEnd,
} from "../core/view/loose-end.ts";
import { refusedEnds } from "../core/view/refused-start.ts";
import { shippedDir } from "../settings/site.ts";
import type { TrustPlace } from "../settings/trust/approval.ts";
import { filesToShow } from "../settings/trust/in-effect.ts";
import type { RunSummary, Store } from "../store/store.ts";
import { createMergedLook } from "./merged-look.ts";
import { findRunEnd } from "./run-end.ts";
import { lookAtTrust, type TrustState } from "./trust/trust.ts";

export type LooseEndOptions = TrustPlace & {
  /** Absent before the first run. */
  readonly store?: Pick<Store, "attempts" | "inbox" | "listRuns" | "loadFlow" | "loadRun" | "runsOf">;
  readonly commitOf: (run: Run) => Promise<string | null>;
  /** The project's tickets; absent where nobody reads them. */
  readonly tickets?: () => Promise<{ readonly scan: TicketScan; readonly plan: TicketPlan } | undefined>;
  /** Starts that the process which picks tickets was refused. */
  readonly refused?: () => RefusedStarts;
};

export type LooseEnds = () => Promise<readonly LooseEnd[]>;

const OPEN = ["running", "waiting", "stopped"] as const;
/** The newest open runs of each status, and the newest completed ones, are looked at. */
const LOOKED_AT_MOST = 500;
const COMPLETED_AT_MOST = 200;

/** Remembers between calls what cannot change any more, so that a daemon does not read every ended run again. */
export function createLooseEnds(options: LooseEndOptions): LooseEnds {
  const settled = new Set<string>();
  const isMerged = createMergedLook();
  const catalogOf = createCatalogLook(options);
  return async () => {
    const { runs, told } = await openRuns(options);
    const ends = [
      ...runs,
      ...(await unmerged(options, settled, isMerged)),
      ...(await fromTickets(options, told)),
      ...fromFiles(options, catalogOf),
    ];
    return inOrder(ends);
  };
}

type OpenRuns = { readonly runs: readonly LooseEnd[]; readonly told: ReadonlySet<string> };

/** Runs that stopped or wait for a merge, and the tickets that a person learns of through their run. */
async function openRuns({ store, project }: LooseEndOptions): Promise<OpenRuns> {
  const runs: LooseEnd[] = [];
  const told = new Set<string>();
  for (const { id, number } of store === undefined ? [] : await openSummaries(store)) {
    const run = (await store?.loadRun(id))?.run;
    if (run === undefined) continue;
    const stopped = stoppedEnd(run, number, hasStopped(run) ? ((await store?.attempts(id)) ?? []) : []);
    const resolved = await store?.loadFlow(run.flowHash);
    const waits = resolved === undefined ? undefined : waitingMerge(resolved, run);
    if (stopped !== undefined) runs.push(stopped);
    else if (waits !== undefined)
      runs.push(proposedEnd(run, number, waits, landedRecord((await store?.attempts(id)) ?? [])));
    const isTold = stopped !== undefined || waits !== undefined || openItems(run).length > 0;
    if (isTold && ticketProject(run) === project) told.add(run.subject.id);
  }
  return { runs, told };
}

function hasStopped({ tracks }: Run): boolean {
  return Object.values(tracks).some(({ at }) => at === "stopped");
}

async function openSummaries(store: Pick<Store, "listRuns">): Promise<readonly RunSummary[]> {
  const pages = await Promise.all(OPEN.map((status) => store.listRuns({ status, limit: LOOKED_AT_MOST })));
  return pages.flat();
}

/** Completed runs whose commits are on their own branch only. */
async function unmerged(
  { store, commitOf }: LooseEndOptions,
  settled: Set<string>,
  isMerged: (project: string, commit: string) => Promise<boolean>,
): Promise<readonly LooseEnd[]> {
  if (store === undefined) return [];
  const completed = await store.listRuns({ status: "completed", limit: COMPLETED_AT_MOST });
  const found = completed
    .filter(({ id, updatedAt }) => !settled.has(`${id} ${updatedAt}`))
    .map(async ({ id, number, updatedAt }): Promise<readonly LooseEnd[]> => {
      const run = (await store.loadRun(id))?.run;
      const resolved = run === undefined ? undefined : await store.loadFlow(run.flowHash);
      if (run === undefined || resolved === undefined) return [];
      const attempts = await store.attempts(id);
      const end = await findRunEnd(store, { resolved, run, number, attempts, commitOf });
      const isOpen = end !== null && (end.state === "kept" || end.state === "gone");
      // A branch that is gone may come back.
      if (!isOpen) settled.add(`${id} ${updatedAt}`);
      const loose = end === null ? undefined : unmergedEnd(run, number, end);
      if (loose === undefined || end === null || end.tip === null) return [];
      return (await isMerged(projectOf(run), end.tip)) ? [] : [loose];
    });
  return (await Promise.all(found)).flat();
}

async function fromTickets(
  { project, refused, tickets }: LooseEndOptions,
  told: ReadonlySet<string>,
): Promise<readonly LooseEnd[]> {
  const found = await tickets?.();
  if (found === undefined) return [];
  return [
    ...ticketEnds({ ...found, told, changedAt: (path) => changedAt(project, path) }),
    ...refusedEnds(found.plan, refused?.() ?? new Map()),
  ];
}

/** Files of the project that decide what runs: those that nobody can use, and those that wait for trust. */
function fromFiles(place: TrustPlace, catalogOf: CatalogLook): readonly LooseEnd[] {
  const { project } = place;
  const time = (path: string): string | null => changedAt(project, path);
  const trust = lookAtTrust(place);
  if (!trust.ok) {
    const problem = { ...trust.error, severity: "error", file: project, line: 1, column: 1, path: "." } as const;
    return brokenCatalogEnds([problem], () => null);
  }
  const { state, hash, files } = trust.value;
  const paths = files.filter(({ change }) => change !== "same").map(({ path }) => path);
  const waits =
    state === "new" || state === "changed" ? [trustEnd({ project, state, hash, paths, changedAt: time })] : [];
  return [...waits, ...brokenCatalogEnds(catalogOf(trust.value), time)];
}

type CatalogLook = (trust: TrustState) => readonly (FileProblem & { readonly path: string })[];

/** The flows and agents in effect are read again only when the project's files or their approval changed. */
function createCatalogLook(place: TrustPlace): CatalogLook {
  let known: { readonly of: string; readonly problems: ReturnType<CatalogLook> } | undefined;
  return ({ state, hash, approved }) => {
    const of = `${state} ${hash} ${approved?.hash ?? ""}`;
    if (known?.of !== of) known = { of, problems: state === "none" ? [] : catalogProblems(place) };
    return known.problems;
  };
}

function catalogProblems(place: TrustPlace): ReturnType<CatalogLook> {
  const { project } = place;
  const catalog = loadCatalog({ shippedDir, ...catalogFolders(project, filesToShow(place)) });
  const flows = catalog.listFlows().filter(({ origin }) => origin !== "shipped");
  const ofFlows = flows.flatMap(({ name }) => {
    const checked = catalog.requireFlow(name);
    return checked.ok ? [] : checked.error;
  });
  const all = [...ofFlows, ...catalog.agents().problems].map((problem) => ({
    ...problem,
    path: relative(project, resolve(project, problem.file)),
  }));
  // All flows share the agents' files.
  return [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/** Null for a file that is gone or cannot be seen. */
function changedAt(project: string, path: string): string | null {
  try {
    return statSync(resolve(project, path), { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
  } catch {
    return null;
  }
}
