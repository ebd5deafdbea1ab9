// The pick rules of a project's flows, read from disk. People edit flows while Passrail runs, so every call compares the files' stats and
// reads a changed flow again; an unchanged one costs four stats.

import { statSync } from "node:fs";
import { join } from "node:path";
import { loadCatalog } from "../../catalog/catalog.ts";
import { DEFAULT_PICK_RULES, type PickRules, pickRules, type PickRulesOf } from "../../core/ticket/pick-rules.ts";
import { shippedDir } from "../../settings/site.ts";

export type FlowRulesOptions = {
  /** The project whose flows override the shipped ones. */
  readonly project: string;
  /** The flow of tickets that name none: `tickets.flow` of the settings. */
  readonly flow: string;
};

type Known = { readonly stamp: string; readonly rules: PickRules; readonly staleAtMs: number };

const REREAD_MS = 5000;

/** Returns the same function until one of the flows it was asked for has changed. */
export function createFlowRules({ project, flow: usual }: FlowRulesOptions): () => PickRulesOf {
  const known = new Map<string, Known>();
  let current = newRules();
  return () => {
    const changed = [...known].filter(
      ([name, { stamp, staleAtMs }]) => stamp !== stampOf(project, name) || performance.now() > staleAtMs,
    );
    for (const [name] of changed) known.delete(name);
    if (changed.length > 0) current = newRules();
    return current;
  };

  function newRules(): PickRulesOf {
    return (flow) => {
      const name = flow ?? usual;
      const found = known.get(name);
      if (found !== undefined) return found.rules;
      const stamp = stampOf(project, name);
      const rules = readRules(project, name);
      // The error of a flow may be in another file, such as an agent's, so its own stats do not show that it is gone.
      const staleAtMs = rules === undefined ? performance.now() + REREAD_MS : Number.POSITIVE_INFINITY;
      const usable = rules ?? DEFAULT_PICK_RULES;
      known.set(name, { stamp, rules: usable, staleAtMs });
      return usable;
    };
  }
}

/** Undefined for a flow with errors: the default rules hold, and starting a ticket reports the errors. */
function readRules(project: string, name: string): PickRules | undefined {
  const checked = loadCatalog({ shippedDir, projectDir: project }).requireFlow(name);
  return checked.ok ? pickRules(checked.value.flow) : undefined;
}

function stampOf(project: string, name: string): string {
  const folders = [join(project, ".passrail", "flows"), join(shippedDir, "flows")];
  return folders
    .flatMap((folder) => [".yaml", ".yml"].map((ending) => join(folder, `${name}${ending}`)))
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? "-" : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.size}`;
    })
    .join(" ");
}
