// The flow catalog for commands: project files override shipped ones, and a flow with errors becomes one readable error. Commands about
// flows read the files as people edit them; a run reads the approved ones.

import {
  type Catalog,
  type CatalogFolders,
  catalogFolders,
  type CheckedFlow,
  type FlowEntry,
  loadCatalog,
} from "../../../catalog/catalog.ts";
import { shippedDir } from "../../../settings/site.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { FileProblem } from "../../../core/check/problem.ts";
import { filesInEffect } from "../../../settings/trust/in-effect.ts";
import { CliError, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";

export type NamedFlow = { readonly catalog: Catalog; readonly entry: FlowEntry; readonly checked: CheckedFlow };

export function openCatalog(io: Pick<Io, "cwd">, known: Pick<CatalogFolders, "checks" | "runnerOf"> = {}): Catalog {
  return loadCatalog({ shippedDir, projectDir: io.cwd, ...known });
}

/** The files that a run would use; throws if they are not approved. */
export function openApproved({ home, cwd }: Pick<Io, "cwd" | "home">): Catalog {
  const inEffect = filesInEffect({ home, project: cwd });
  if (!inEffect.ok) throw problemError(inEffect.error);
  return loadCatalog({ shippedDir, ...catalogFolders(cwd, inEffect.value) });
}

export function requireFlow(io: Pick<Io, "cwd">, name: string, catalog: Catalog = openCatalog(io)): NamedFlow {
  const checked = catalog.requireFlow(name);
  if (!checked.ok) throw flowError(name, checked.error);
  const entry = catalog.listFlows().find((listed) => listed.name === name);
  if (entry === undefined) throw new Error(`the flow ${name} was read and is not listed`);
  return { catalog, entry, checked: checked.value };
}

/** The flow as a run would use it. */
export function requireResolvedFlow(io: Pick<Io, "cwd" | "home">, name: string): ResolvedFlow {
  const resolved = requireFlow(io, name, openApproved(io)).catalog.resolve(name);
  if (!resolved.ok) throw flowError(name, resolved.error);
  return resolved.value;
}

/** One line for a flow that cannot be used; the whole list is what `flow check` is for. */
export function flowError(name: string, problems: readonly FileProblem[]): CliError {
  const first = problems.find(({ severity }) => severity === "error") ?? problems[0];
  if (first === undefined) return new CliError("flow_invalid", `the flow "${name}" cannot be read`);
  if (first.code === "unknown_flow")
    return new CliError(first.code, first.message, hintOf(first, "passrail flow list"));
  const place = `${first.file}:${first.line}:${first.column}`;
  return new CliError("flow_invalid", `${place}: ${first.message}`, hintOf(first, `passrail flow check ${name}`));
}

function hintOf({ hint }: FileProblem, command: string): string {
  return hint === undefined ? `see: ${command}` : `${hint}\nsee: ${command}`;
}
