// The use cases of an opened Passrail: the same for its commands and its server, so that no door leaves out a check that another makes.

import type { Clock } from "../engine/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { CurrentBudgets } from "../settings/current-budgets.ts";
import { loadSettings, type SettingsFlags } from "../settings/load.ts";
import type { Settings } from "../settings/settings.ts";
import type { Site } from "../settings/site.ts";
import type { Store } from "../store/store.ts";
import { createCommitOf } from "./commit-of.ts";
import { planRun } from "./start-run/start-run.ts";
import { withdrawnTrust } from "./trust/withdrawn.ts";
import { createUseCases, type UseCaseOptions, type UseCases } from "./use-cases.ts";

export type UseCaseSite = Site & {
  readonly flags: SettingsFlags;
  readonly clock: Clock;
  readonly config: Settings;
  readonly budgets: CurrentBudgets;
  readonly store: Store;
  readonly engine: Engine;
};

/** `replaced`: collaborators of a test. */
export function openUseCases(site: UseCaseSite, replaced: Partial<UseCaseOptions> = {}): UseCases {
  const { budgets, clock, config, engine, environment, flags, home, project, store } = site;
  const settings = (of: string) => loadSettings({ home, environment, project: of, flags });
  const place = { home, project, settings, environment };
  return createUseCases({
    engine,
    store,
    now: () => clock.now(),
    commitOf: createCommitOf(store),
    programs: config.programs,
    renewing: { settings, environment },
    withdrawnTrust: (run) => withdrawnTrust(place, run),
    planRun: (request) => planRun(place, request),
    budgets: () => budgets.now(),
    ...replaced,
  });
}
