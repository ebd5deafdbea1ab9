// The pick rules of a project's flows, read from the approved files. People approve other ones while Passrail runs, so every call compares
// the files' stats and reads a changed flow again; an unchanged one costs a few stats.

import { statSync } from "node:fs";
import { join } from "node:path";
import { catalogFolders, loadCatalog } from "../../catalog/catalog.ts";
import { DEFAULT_PICK_RULES, type PickRules, pickRules, type PickRulesOf } from "../../core/ticket/pick-rules.ts";
import { shippedDir } from "../../settings/site.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import { filesToShow } from "../../settings/trust/in-effect.ts";

/** The flows of `project` override the shipped ones. */
export type FlowRulesOptions = TrustPlace & {
  /** The flow of tickets that name none: `tickets.flow` of the settings. */
  readonly flow: string;
};

type Known = { readonly stamp: string; readonly rules: PickRules; readonly staleAtMs: number };

const REREAD_MS = 5000;

/** Returns the same function until one of the flows it was asked for has changed. */
export function createFlowRules({ flow: usual, ...place }: FlowRulesOptions): () => PickRulesOf {
  const known = new Map<string, Known>();
  let current = newRules();
  return () => {
    const changed = [...known].filter(
      ([name, { stamp, staleAtMs }]) => stamp !== stampOf(place, name) || performance.now() > staleAtMs,
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
      const stamp = stampOf(place, name);
      const rules = readRules(place, name);
      // The error of a flow may be in another file, such as an agent's, so its own stats do not show that it is gone.
      const staleAtMs = rules === undefined ? performance.now() + REREAD_MS : Number.POSITIVE_INFINITY;
      const usable = rules ?? DEFAULT_PICK_RULES;
      known.set(name, { stamp, rules: usable, staleAtMs });
      return usable;
    };
  }
}

/** Undefined for a flow with errors: the default rules hold, and starting a ticket reports the errors. */
function readRules(place: TrustPlace, name: string): PickRules | undefined {
  const checked = loadCatalog({ shippedDir, ...catalogFolders(place.project, filesToShow(place)) }).requireFlow(name);
  return checked.ok ? pickRules(checked.value.flow) : undefined;
}

function stampOf(place: TrustPlace, name: string): string {
  const project = filesToShow(place);
  const folders = [...(project === null ? [] : [join(project, ".passrail", "flows")]), join(shippedDir, "flows")];
  return folders
    .flatMap((folder) => [".yaml", ".yml"].map((ending) => join(folder, `${name}${ending}`)))
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? `- ${file}` : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.size}`;
    })
    .join(" ");
}
