// The flow catalog for commands: project files override shipped ones, and a flow with errors becomes one readable error.

import { type Catalog, type CheckedFlow, type FlowEntry, loadCatalog } from "../../../catalog/catalog.ts";
import { shippedDir } from "../../../settings/site.ts";
import type { FileProblem } from "../../../core/check/problem.ts";
import { CliError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";

export type NamedFlow = { readonly catalog: Catalog; readonly entry: FlowEntry; readonly checked: CheckedFlow };

export function openCatalog(io: Pick<Io, "cwd">): Catalog {
  return loadCatalog({ shippedDir, projectDir: io.cwd });
}

export function requireFlow(io: Pick<Io, "cwd">, name: string): NamedFlow {
  const catalog = openCatalog(io);
  const checked = catalog.requireFlow(name);
  if (!checked.ok) throw flowError(name, checked.error);
  const entry = catalog.listFlows().find((listed) => listed.name === name);
  if (entry === undefined) throw new Error(`the flow ${name} was read and is not listed`);
  return { catalog, entry, checked: checked.value };
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
