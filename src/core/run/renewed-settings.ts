// The settings of a run as they are when a person retries a stage: they take the place of those of its start.

import { canonicalJson, type Json, type JsonObject } from "../json.ts";
import type { Run } from "./run.ts";

export type RenewedSettings = {
  /** The settings among the facts of `config`; a key that is missing is back at its default. */
  readonly config: JsonObject;
  /** Who plays what, with the choices of people for this run on top; null where an older run did not keep them apart. */
  readonly runners: JsonObject | null;
};

/** The facts of `config` that follow the settings. The others belong to the run: its project, its workspace, its base, its merge mode. */
const FROM_SETTINGS = [
  "verdict_repair",
  "checks",
  "check_cache",
  "test_files",
  "repository_settings",
  "limits",
  "router_fallback",
] as const;

/** If the settings name no runner, the one found at the start stays. */
const KEPT = ["runner", "model"] as const;

export function withSettings(facts: JsonObject, { config, runners }: RenewedSettings): JsonObject {
  const before = Object.entries(objectOf(facts["config"]));
  const names: readonly string[] = config["runner"] === undefined ? FROM_SETTINGS : [...FROM_SETTINGS, ...KEPT];
  const own = Object.fromEntries(before.filter(([name]) => !names.includes(name)));
  return { ...facts, config: { ...own, ...config }, ...(runners === null ? {} : { runners }) };
}

/** Undefined where nothing would change. */
export function changedSettings({ facts }: Run, renewed: RenewedSettings | undefined): RenewedSettings | undefined {
  if (renewed === undefined) return undefined;
  return canonicalJson(withSettings(facts, renewed)) === canonicalJson(facts) ? undefined : renewed;
}

/** The runner of a stage that a person chose for this run, without the options of the settings. */
export function playersIn(runners: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(runners).map(([name, options]) => {
      const { runner, command, model } = objectOf(options);
      const known = Object.entries({ runner, command, model }).filter(([, value]) => value !== undefined);
      return [name, Object.fromEntries(known)];
    }),
  );
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}
