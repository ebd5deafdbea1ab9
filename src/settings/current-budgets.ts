// The budgets as the settings say now, for a process that stays: a changed limit takes effect without a restart. The project's file counts
// in the version that a person approved. A file with an error keeps the last good budgets in force.

import { statSync } from "node:fs";
import type { Budgets } from "../core/budget/budget.ts";
import { loadSettings, type SettingsSite } from "./load.ts";
import { userSettingsFile } from "./site.ts";
import { filesInEffect } from "./trust/in-effect.ts";

export type CurrentBudgets = {
  /** The budgets of the last read. Never waits; it reads again from time to time. */
  now(): Budgets;
  /** Looks at once. */
  refresh(): Promise<void>;
};

export type CurrentBudgetsOptions = {
  readonly site: SettingsSite;
  readonly initial: Budgets;
  readonly monotonicMs: () => number;
  /** Called once per change that cannot be used. */
  readonly onProblem: (text: string) => void;
};

/** Every start of an attempt asks. */
const LOOK_EVERY_MS = 1000;

export function createCurrentBudgets(options: CurrentBudgetsOptions): CurrentBudgets {
  const { site, initial, monotonicMs, onProblem } = options;
  let current = initial;
  let stamp = stampOf(site);
  let lookedMs = monotonicMs();
  let looking: Promise<void> = Promise.resolve();

  function refresh(): Promise<void> {
    lookedMs = monotonicMs();
    looking = looking.then(look).catch((error: unknown) => onProblem(String(error)));
    return looking;
  }

  async function look(): Promise<void> {
    const now = stampOf(site);
    if (now === stamp) return;
    stamp = now;
    const loaded = await loadSettings(site);
    if (loaded.ok) current = loaded.value.budgets;
    else onProblem(`The settings were changed and cannot be used: ${loaded.error.message}`);
  }

  return {
    now() {
      if (monotonicMs() - lookedMs >= LOOK_EVERY_MS) void refresh();
      return current;
    },
    refresh,
  };
}

function stampOf({ home, project, environment }: SettingsSite): string {
  const own = statSync(userSettingsFile(environment), { throwIfNoEntry: false });
  const approved = filesInEffect({ home, project });
  return [own?.ino, own?.mtimeMs, own?.ctimeMs, own?.size, approved.ok ? approved.value : "none"].join(":");
}
