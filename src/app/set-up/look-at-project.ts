// Looks at a project before `init` proposes settings. Reads only.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { LOCK_FILES, type ProjectTexts, type ProposedSettings, propose, READ_FILES } from "../../core/setup/propose.ts";
import { readConfined } from "../../file/confined.ts";
import { git } from "../../git/git.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import { type LookedAtPlace, lookAtPlace } from "../look-at-place.ts";

const FILE_BYTES = 1024 * 1024;

export type LookedAtProject = LookedAtPlace & {
  readonly remotes: readonly string[];
  readonly proposal: ProposedSettings;
  /** Why bubblewrap cannot confine agents here; null if it was started and can. */
  readonly noSandbox: string | null;
};

export async function lookAtProject(
  environment: Environment,
  project: string,
  settings: Pick<Settings, "programs" | "passEnvironment" | "workspaces">,
): Promise<LookedAtProject> {
  const [place, remotes, sandbox] = await Promise.all([
    lookAtPlace(environment, project, settings),
    git(project, ["remote"]),
    workspaceProblem("bubblewrap", settings.workspaces, environment),
  ]);
  const locks = Object.keys(LOCK_FILES).filter((file) => existsSync(join(project, file)));
  return {
    ...place,
    remotes: remotes.ok ? remotes.value.split("\n").filter((name) => name !== "") : [],
    proposal: propose(textsOf(project), locks),
    noSandbox: sandbox?.message ?? null,
  };
}

function textsOf(project: string): ProjectTexts {
  const texts = READ_FILES.map((name) => {
    const read = readConfined(project, join(project, name), FILE_BYTES);
    return [name, read.ok ? read.value : undefined] as const;
  });
  return Object.fromEntries(texts) as ProjectTexts;
}
