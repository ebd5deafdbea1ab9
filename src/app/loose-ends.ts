// Collects the loose ends of the inbox: from the runs of the store, and from the files of one project. The readings themselves are in
// core/view/loose-end.ts.

import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { catalogFolders, loadCatalog } from "../catalog/catalog.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { optional } from "../core/optional.ts";
import { ticketProject } from "../core/run/facts.ts";
import { openItems, type Run } from "../core/run/run.ts";
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
} from "../core/view/loose-end.ts";
import { refusedEnds } from "../core/view/refused-start.ts";
import { shippedDir } from "../settings/site.ts";
import type { TrustPlace } from "../settings/trust/approval.ts";
import { filesToShow } from "../settings/trust/in-effect.ts";
import type { RunSummary, Store } from "../store/store.ts";
import { createUnmergedLook } from "./unmerged-runs.ts";
import { lookAtTrust, type TrustState } from "./trust/trust.ts";

export type LooseEndOptions = TrustPlace & {
  /** Absent before the first run. */
  readonly store?: Pick<
    Store,
    "attempts" | "countRuns" | "events" | "lastSeq" | "listRuns" | "loadFlow" | "loadRun" | "runsOf"
  >;
  readonly commitOf: (run: Run) => Promise<string | null>;
  /** The project's tickets; absent if the caller does not read them. */
  readonly tickets?: () => Promise<{ readonly scan: TicketScan; readonly plan: TicketPlan } | undefined>;
  /** Starts that the process which picks tickets was refused. */
  readonly refused?: () => RefusedStarts;
};

export type LooseEnds = () => Promise<LooseEndsNow>;

export type LooseEndsNow = {
  readonly ends: readonly LooseEnd[];
  /** Completed runs that were not looked at yet: among many, the older ones are looked at in later calls. */
  readonly unseen: number;
};

const OPEN = ["running", "waiting", "stopped"] as const;
const PAGE = 500;

/** Remembers between calls what has not changed, so that a daemon reads each run once after a change. */
export function createLooseEnds(options: LooseEndOptions): LooseEnds {
  const { store } = options;
  const unmerged = store === undefined ? undefined : createUnmergedLook({ ...options, store });
  const openRuns = createOpenLook(options);
  const catalogOf = createCatalogLook(options);
  return async () => {
    const { runs, told } = await openRuns();
    const completed = await unmerged?.();
    const ends = [
      ...runs,
      ...(completed?.ends ?? []),
      ...(await fromTickets(options, told)),
      ...fromFiles(options, catalogOf),
    ];
    return { ends: inOrder(ends), unseen: completed?.unseen ?? 0 };
  };
}

type OpenRuns = { readonly runs: readonly LooseEnd[]; readonly told: ReadonlySet<string> };

/** `told`: the run reports its ticket, which is this project's, to a person. */
type OpenRun = { readonly at: string; readonly end: LooseEnd | null; readonly told: string | null };

/** Runs that stopped or wait for a merge, and the tickets that a person learns of through their run. */
function createOpenLook({ store, project }: LooseEndOptions): () => Promise<OpenRuns> {
  let known: ReadonlyMap<string, OpenRun> = new Map();
  return async () => {
    const now = new Map<string, OpenRun>();
    for (const summary of store === undefined ? [] : await openSummaries(store)) {
      const before = known.get(summary.id);
      const run =
        before?.at === summary.updatedAt || store === undefined ? before : await readOpen(store, summary, project);
      if (run !== undefined) now.set(summary.id, run);
    }
    known = now;
    const runs = [...now.values()];
    return { runs: runs.flatMap(({ end }) => end ?? []), told: new Set(runs.flatMap(({ told }) => told ?? [])) };
  };
}

async function readOpen(
  store: NonNullable<LooseEndOptions["store"]>,
  { id, number, updatedAt }: RunSummary,
  project: string,
): Promise<OpenRun | undefined> {
  const run = (await store.loadRun(id))?.run;
  if (run === undefined) return undefined;
  const stopped = stoppedEnd(run, number, hasStopped(run) ? await store.attempts(id) : []);
  const resolved = await store.loadFlow(run.flowHash);
  const waits = resolved === undefined ? undefined : waitingMerge(resolved, run);
  const proposed =
    waits === undefined ? undefined : proposedEnd(run, number, waits, landedRecord(await store.attempts(id)));
  const isTold = stopped !== undefined || waits !== undefined || openItems(run).length > 0;
  const told = isTold && ticketProject(run) === project ? run.subject.id : null;
  return { at: updatedAt, end: stopped ?? proposed ?? null, told };
}

function hasStopped({ tracks }: Run): boolean {
  return Object.values(tracks).some(({ at }) => at === "stopped");
}

/** All of them; each page is one step in an index. */
async function openSummaries(store: Pick<Store, "listRuns">): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (const status of OPEN) {
    for (let before: number | undefined; ; ) {
      const page = await store.listRuns({ status, limit: PAGE, ...optional({ before }) });
      found.push(...page);
      if (page.length < PAGE) break;
      before = page.at(-1)?.number;
    }
  }
  return found;
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

/** Files of the project that decide what runs: broken ones, and those that wait for trust. */
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
  if (!catalog.holdsOwn()) return [];
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
