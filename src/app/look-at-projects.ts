// The registered projects with what a person wants to know of each: whether the daemon works on it, whether its files are approved, and
// its last run.

import { realpathSync } from "node:fs";
import { ok, type Result } from "../core/result.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { RunSummary, Store } from "../store/store.ts";
import { listProjects, type RegisteredProject } from "./projects.ts";
import { lookAtTrust, type TrustState } from "./trust/trust.ts";

export type ProjectLook = RegisteredProject & {
  readonly isOwn: boolean;
  readonly trust: TrustState["state"] | "unreadable";
  /** Null if none of the newest runs was there. */
  readonly lastRun: {
    readonly number: number;
    readonly title: string;
    readonly word: string;
    readonly updatedAt: string;
  } | null;
};

export type ProjectsPlace = {
  readonly home: string;
  readonly store: Pick<Store, "listRuns" | "loadRun">;
  /** The daemon's own folder; null without one. */
  readonly own: string | null;
};

/** Runs are not indexed by their folder, so only the newest are looked at. */
const NEWEST = 200;

export async function lookAtProjects({ home, store, own }: ProjectsPlace): Promise<Result<readonly ProjectLook[]>> {
  const known = listProjects(home);
  if (!known.ok) return known;
  const last = await lastRuns(store, new Set(known.value.map(({ folder }) => folder)));
  const ownFolder = own === null ? null : realFolder(own);
  return ok(
    known.value.map((project) => ({
      ...project,
      isOwn: project.folder === ownFolder,
      trust: trustIn(home, project),
      lastRun: last.get(project.folder) ?? null,
    })),
  );
}

async function lastRuns(
  store: ProjectsPlace["store"],
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, NonNullable<ProjectLook["lastRun"]>>> {
  const found = new Map<string, NonNullable<ProjectLook["lastRun"]>>();
  if (wanted.size === 0) return found;
  for (const summary of await store.listRuns({ limit: NEWEST })) {
    if (found.size === wanted.size) break;
    const run = (await store.loadRun(summary.id))?.run;
    const folder = run === undefined ? "" : realFolder(projectOf(run));
    if (wanted.has(folder) && !found.has(folder)) found.set(folder, lastOf(summary));
  }
  return found;
}

function lastOf({ number, subject, word, updatedAt }: RunSummary): NonNullable<ProjectLook["lastRun"]> {
  return { number, title: subject.title, word, updatedAt };
}

function trustIn(home: string, { folder, present }: RegisteredProject): ProjectLook["trust"] {
  if (!present) return "unreadable";
  const looked = lookAtTrust({ home, project: folder });
  return looked.ok ? looked.value.state : "unreadable";
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
