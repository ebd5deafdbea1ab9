// The files that a run was started with, as facts: copied and hashed at the start, so that every stage gets the version that a person agreed
// to. The copies are in the run's folder, under their hash.

import type { Json, JsonObject } from "../json.ts";
import type { InputChange, Run } from "./run.ts";

export type PinnedFile = { readonly path: string; readonly sha256: string; readonly bytes: number };

/** An input, by the name of its fact; `kept`: the later version that a person has declined. */
export type PinnedInput = PinnedFile & { readonly name: string; readonly kept?: string };

/** The pinned start of a run: its inputs, and the project's rules at that time. */
export type Pinned = { readonly inputs: readonly PinnedInput[]; readonly rules: readonly PinnedFile[] };

/** Read from the stored facts; empty for runs of earlier versions. */
export function pinnedOf({ facts }: Pick<Run, "facts">): Pinned {
  const pinned = objectOf(facts["pinned"]);
  const inputs = Object.entries(objectOf(pinned["inputs"])).flatMap(([name, value]) =>
    fileOf(value).map((file) => {
      const kept = objectOf(value)["kept"];
      return { name, ...file, ...(typeof kept === "string" ? { kept } : {}) };
    }),
  );
  const rules = pinned["rules"];
  return { inputs, rules: Array.isArray(rules) ? (rules as readonly Json[]).flatMap(fileOf) : [] };
}

/** The form in which `pinnedOf` finds them again. */
export function pinnedFacts({ inputs, rules }: Pinned): JsonObject {
  return {
    inputs: Object.fromEntries(inputs.map(({ name, ...file }) => [name, file])),
    rules: rules.map((file) => ({ ...file })),
  };
}

/** The facts after a person's decision. */
export function withDecision(run: Run, decision: "taken" | "kept", changes: readonly InputChange[]): JsonObject {
  const pinned = pinnedOf(run);
  const inputs = pinned.inputs.map((input): PinnedInput => {
    const change = changes.find(({ name }) => name === input.name);
    if (change === undefined) return input;
    const { name, path, sha256, bytes } = change;
    return decision === "taken" ? { name, path, sha256, bytes } : { ...input, kept: sha256 };
  });
  return { ...run.facts, pinned: pinnedFacts({ ...pinned, inputs }) };
}

function fileOf(value: Json | undefined): readonly PinnedFile[] {
  const { path, sha256, bytes } = objectOf(value);
  return typeof path === "string" && typeof sha256 === "string" && typeof bytes === "number"
    ? [{ path, sha256, bytes }]
    : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}
