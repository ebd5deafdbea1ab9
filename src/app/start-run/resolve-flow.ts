// Reads the flow with this name from the approved files, or explains in one sentence why it cannot be used.

import { type Catalog, catalogFolders, loadCatalog } from "../../catalog/catalog.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { shippedDir } from "../../settings/site.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import { filesInEffect } from "../../settings/trust/in-effect.ts";
import { chooseFlow, familyOf, type FlowChoice } from "./choose-flow.ts";
import { findStart, type FoundStart } from "./find-start.ts";

export type ResolvedStart = FoundStart & { readonly resolved: ResolvedFlow };

/**
 * `flow_not_found` or `flow_invalid`. Reads the files on every call, because people approve new ones while programs run. A family becomes the
 * one of its flows that the input chooses.
 */
export function resolveStart(place: TrustPlace, word: string, input: FlowChoice["input"] = []): Result<ResolvedStart> {
  const inEffect = filesInEffect(place);
  if (!inEffect.ok) return inEffect;
  const catalog = loadCatalog({ shippedDir, ...catalogFolders(place.project, inEffect.value) });
  const family = familyOf(catalog, word);
  if (family.length > 0) return resolveMember(catalog, family, { name: word, project: place.project, input });
  const start = findStart(catalog, word);
  if (!start.ok) return start;
  const resolved = resolveNamed(catalog, start.value.flow);
  return resolved.ok ? ok({ ...start.value, resolved: resolved.value }) : resolved;
}

function resolveMember(catalog: Catalog, family: readonly string[], choice: FlowChoice): Result<ResolvedStart> {
  const members: ResolvedFlow[] = [];
  for (const member of family) {
    const resolved = resolveNamed(catalog, member);
    if (!resolved.ok) return resolved;
    members.push(resolved.value);
  }
  const chosen = chooseFlow(members, choice);
  if (!chosen.ok) return chosen;
  return ok({ flow: chosen.value.flow.name, input: [], by: "flow", resolved: chosen.value });
}

/** The flow with this name or alias, or the chosen one of a family. A word that names an agent is no flow. */
export function resolveFlow(place: TrustPlace, name: string, input: FlowChoice["input"] = []): Result<ResolvedFlow> {
  const start = resolveStart(place, name, input);
  if (!start.ok) return start;
  if (start.value.by === "agent")
    return err({ code: "flow_not_found", message: `There is no flow ${JSON.stringify(name)}; it is an agent.` });
  return ok(start.value.resolved);
}

function resolveNamed(catalog: Catalog, name: string): Result<ResolvedFlow> {
  const resolved = catalog.resolve(name);
  if (resolved.ok) return resolved;
  const [first] = resolved.error;
  const message = first === undefined ? name : `${first.file}:${first.line}:${first.column}: ${first.message}`;
  return err({ code: "flow_invalid", message, hint: `passrail flow check ${name}` });
}
