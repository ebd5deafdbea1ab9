// Joins the workspaces of a state folder with their runs in the store.

import { attemptFacts } from "../core/attempt-facts.ts";
import { openForReading } from "../store/open-store.ts";
import type { Site } from "../settings/site.ts";
import type { Settings } from "../settings/settings.ts";
import { isEnded } from "../core/run/run.ts";
import { loadSettings } from "../settings/load.ts";
import { ok, type Result } from "../core/result.ts";
import type { Store } from "../store/store.ts";
import {
  type Cleaned,
  cleanWorkspaces,
  findWorkspaces,
  type FoundWorkspace,
  type InventoryOptions,
} from "../workspace/inventory.ts";
import { createWorkspaces } from "../workspace/providers.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { WORKSPACE_MODES } from "../core/flow/workspace-mode.ts";

export type Inventory = {
  /** Throws if the store cannot be read. */
  list(): Promise<readonly FoundWorkspace[]>;
  clean(found: readonly FoundWorkspace[]): Promise<readonly Cleaned[]>;
};

/** Lists and cleans the workspaces of a state folder. It reads the store and can run beside the performing process. */
export async function findInventory(site: Site): Promise<Result<Inventory>> {
  const config = await loadSettings({ ...site, flags: {} });
  if (!config.ok) return config;
  return ok(openInventory(site, config.value.workspaces));
}

function openInventory(site: Site, settings: Settings["workspaces"]): Inventory {
  const { home, environment } = site;
  const workspaces = createWorkspaces({ home, settings, environment });
  return {
    list: () => withStore(site, (store) => findWorkspaces(optionsFor(store))),
    clean: (found) => withStore(site, (store) => cleanWorkspaces(optionsFor(store), found)),
  };

  function optionsFor(store: Store | undefined): InventoryOptions {
    return {
      home,
      workspaces,
      async ownerOf(runId) {
        const stored = await store?.loadRun(runId);
        if (stored === undefined) return "unknown";
        return isEnded(stored.run) ? "ended" : "live";
      },
      remembered: async (runId, dir) => (store === undefined ? null : rememberedIn(store, runId, dir)),
    };
  }
}

async function withStore<T>(site: Site, use: (store: Store | undefined) => Promise<T>): Promise<T> {
  const store = await openForReading(site);
  try {
    return await use(store);
  } finally {
    store?.close();
  }
}

/** An attempt records where it worked. */
async function rememberedIn(store: Store, runId: string, dir: string): Promise<Workspace | null> {
  const facts = (await store.attempts(runId))
    .map(attemptFacts)
    .findLast(({ workspace }) => workspace === dir || workspace?.startsWith(`${dir}/`) === true);
  const { branch = null, repository = null, workspace = null } = facts ?? {};
  if (branch === null || repository === null || workspace === null) return null;
  const mode = WORKSPACE_MODES.find((known) => known === facts?.mode) ?? "worktree";
  const key = dir.slice(dir.lastIndexOf("/") + 1);
  return { mode, key, dir: workspace, branch, repository, lockKeys: [] };
}
