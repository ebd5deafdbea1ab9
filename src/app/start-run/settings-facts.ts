// The part of a run's facts that comes from the settings: taken when it starts, and again when a person retries a stage.

import { firstRunner } from "../../core/flow/ladder.ts";
import type { WrittenOptions } from "../../core/flow/agent-options.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { meantFor } from "../../core/flow/runner-choice.ts";
import { storedOptions } from "../../core/flow/stored-options.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RenewedSettings } from "../../core/run/renewed-settings.ts";
import type { Run } from "../../core/run/run.ts";
import type { Settings } from "../../settings/settings.ts";
import { runnersOf } from "./runners.ts";

/** Of `config`. */
export function settingsFacts(config: Settings): JsonObject {
  return {
    verdict_repair: config.verdictRepair.value,
    ...(config.runner.value === "none" ? {} : { runner: config.runner.value }),
    ...(config.model === null ? {} : { model: config.model }),
    ...(Object.keys(config.checks).length === 0 ? {} : { checks: config.checks }),
    ...(config.checkCache.value ? {} : { check_cache: false }),
    ...(config.memo.value ? {} : { memo: false }),
    ...(config.testFiles === null ? {} : { test_files: config.testFiles }),
    repository_settings: config.repositorySettings.value,
    ...(Object.keys(config.limits).length === 0 ? {} : { limits: config.limits }),
    ...(config.routerFallback === null ? {} : { router_fallback: config.routerFallback }),
  };
}

/** The settings as they are now, for a run that was started with others. */
export function renewedSettings(config: Settings, resolved: ResolvedFlow, { facts }: Run): RenewedSettings {
  const chosen = facts["chosen"];
  const isKnown = chosen !== null && typeof chosen === "object" && !Array.isArray(chosen);
  const set = runnersOf(resolved, [], config.agents, "/");
  if (!isKnown || !set.ok) return { config: settingsFacts(config), runners: null };
  const runners: Record<string, WrittenOptions> = { ...set.value };
  for (const [name, options] of Object.entries(chosen as JsonObject))
    runners[name] = withChoice(runners[name], options);
  return { config: settingsFacts(config), runners };
}

/** A person's choice replaces who plays; the options of the settings stay, except for another program's model. */
function withChoice(set: WrittenOptions = {}, options: unknown): WrittenOptions {
  const choice = storedOptions(options);
  if (choice.runner === undefined && choice.command === undefined) return { ...set, ...choice };
  const { runner: _runner, command: _command, ...rest } = meantFor(firstRunner(choice.runner) ?? "command", set);
  return { ...rest, ...choice };
}
