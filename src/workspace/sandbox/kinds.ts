// The kinds of workspaces that confine, each a clone with its own way to run a program inside.

import { join } from "node:path";
import type { ConfiningMode } from "../../core/flow/workspace-mode.ts";
import { createBubblewrapWorkspaces } from "./bubblewrap/bubblewrap.ts";
import { createCloneWorkspaces } from "../clone.ts";
import { createContainerWorkspaces } from "./container/container.ts";
import { createDaytonaWorkspaces } from "./daytona/daytona.ts";
import type { GitWorkspaces } from "../git-workspaces.ts";
import { workLimits, type WorkspaceSettings } from "../../settings/workspaces.ts";

export type ConfiningOptions = {
  /** The state folder. */
  readonly home: string;
  readonly settings: WorkspaceSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export function createConfining(mode: ConfiningMode, { home, settings, environment }: ConfiningOptions): GitWorkspaces {
  const root = join(home, "clones");
  const clones = createCloneWorkspaces({ root, mode, limits: workLimits(settings), turns: join(home, "locks") });
  const caches = Object.values(settings.caches ?? {}).map((name) => join(home, "caches", name));
  const shared = { clones, root, home, caches, environment };
  if (mode === "bubblewrap") return createBubblewrapWorkspaces({ ...shared, settings: settings.bubblewrap ?? {} });
  if (mode === "daytona") return createDaytonaWorkspaces({ ...shared, settings: settings.daytona ?? {} });
  return createContainerWorkspaces({ ...shared, engine: mode, settings: settings.docker });
}
