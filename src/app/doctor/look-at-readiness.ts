// The facts of the repository's readiness score for `doctor`: what git tracks, and what the settings define.

import { type Readiness, readinessOf } from "../../core/setup/readiness.ts";
import { git } from "../../git/git.ts";
import { loadSettings } from "../../settings/load.ts";
import type { Site } from "../../settings/site.ts";

const MAX_FILES = 50_000;

/** Null where there is no repository, or nothing is committed; other lines of `doctor` say so. */
export async function lookAtReadiness(site: Site): Promise<Readiness | null> {
  const listed = await git(site.project, ["ls-files", "-z"]);
  const files = listed.ok ? listed.value.split("\0").filter((path) => path !== "") : [];
  const settings = await loadSettings({ ...site, flags: {}, unapproved: "show" });
  if (files.length === 0 || !settings.ok) return null;
  const { checks, workspaces, testFiles } = settings.value;
  return readinessOf({
    files: files.slice(0, MAX_FILES),
    checks: Object.keys(checks),
    hasSetup: (workspaces.setup ?? []).length > 0,
    testFiles,
  });
}
