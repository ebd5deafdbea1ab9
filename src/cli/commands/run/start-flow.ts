// Resolves the words of a start before any check: the flow or family, the repositories, and the exceptions that a person allows.

import { chooseFlow, familyOf, type FlowChoice } from "../../../app/start-run/choose-flow.ts";
import { findStart } from "../../../app/start-run/find-start.ts";
import { EXCEPTIONS, type PreflightException } from "../../../app/start-run/preflight.ts";
import type { Catalog } from "../../../catalog/catalog.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { Result } from "../../../core/result.ts";
import { CliError, problemError, usageError } from "../../errors.ts";
import { askYesOrNo, canAsk } from "../../terminal/ask-in-terminal.ts";
import type { Io } from "../../terminal/io.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { flowError, openApproved, requireResolvedFlow } from "../flow/catalog.ts";

/** The target of a word: a flow, an alias, an agent that works alone, or the flow of a family that the input chooses. */
export function requireStart(io: Io, word: string, input: FlowChoice["input"]): Started {
  const catalog = openApproved(io);
  const members = familyOf(catalog, word);
  if (members.length > 0) {
    const chosen = chooseFlow(resolvedIn(catalog, members), { name: word, project: io.cwd, input });
    if (!chosen.ok) throw problemError(chosen.error);
    return { resolved: chosen.value, input: [] };
  }
  const found = findStart(catalog, word);
  if (!found.ok)
    throw new CliError("unknown_flow", found.error.message, `${found.error.hint ?? ""}\nsee: passrail flow list`);
  return { resolved: requireResolvedFlow(io, found.value.flow), input: found.value.input };
}

/** `input`: the fact that the word itself gives. */
type Started = { readonly resolved: ResolvedFlow; readonly input: FlowChoice["input"] };

function resolvedIn(catalog: Catalog, names: readonly string[]): readonly ResolvedFlow[] {
  return names.map((name) => {
    const resolved = catalog.resolve(name);
    if (!resolved.ok) throw flowError(name, resolved.error);
    return resolved.value;
  });
}

/** `folders`: repositories of their own, undefined if none is named. `input`: folders that the flow has a name for. */
type NamedRepositories = { readonly folders: readonly string[] | undefined; readonly input: FlowChoice["input"] };

/** `--repo backend`: a folder that is a repository. `--repo backend=services/api`: the folder input that the flow gives this name. */
export function readRepositories(io: Io, flow: string, given: readonly string[]): NamedRepositories {
  const folders = given.filter((each) => !each.includes("="));
  const pairs = given.filter((each) => each.includes("="));
  return { folders: folders.length === 0 ? undefined : folders, input: readFolders(io, flow, pairs) };
}

function readFolders(io: Io, flow: string, pairs: readonly string[]): FlowChoice["input"] {
  if (pairs.length === 0) return [];
  const catalog = openApproved(io);
  const family = familyOf(catalog, flow);
  const known = resolvedIn(catalog, family.length === 0 ? [flow] : family)
    .flatMap((resolved) => resolved.flow.inputs ?? [])
    .filter(({ repository }) => repository !== undefined);
  return pairs.map((pair) => {
    const at = pair.indexOf("=");
    const [name, folder] = [pair.slice(0, at), pair.slice(at + 1)];
    const input = known.find(({ repository }) => repository === name);
    if (at < 1 || folder === "")
      throw usageError(
        "invalid_input",
        `--repo "${plainText(pair)}" is not name=folder.`,
        "for example --repo backend, or --repo backend=services/api",
      );
    if (input === undefined)
      throw usageError(
        "unknown_repository",
        `${flow} has no repository "${plainText(name)}".`,
        `known: ${[...new Set(known.map(({ repository }) => repository))].join(", ") || "none"}`,
      );
    return [input.name, folder] as const;
  });
}

export function allowedBy(flags: {
  readonly allowDirty?: boolean;
  readonly allowBranch?: boolean;
}): readonly PreflightException[] {
  return EXCEPTIONS.filter((each) => (each === "dirty" ? flags.allowDirty === true : flags.allowBranch === true));
}

/** On a terminal the person decides about a repository that is not as the flow expects; elsewhere the flag does. */
export async function prepareAsking<T>(
  io: Io,
  allow: readonly PreflightException[],
  prepare: (allow: readonly PreflightException[]) => Promise<Result<T>>,
): Promise<Result<T>> {
  const prepared = await prepare(allow);
  if (prepared.ok || prepared.error.code !== "preflight_failed" || !canAsk(io)) return prepared;
  io.err(plainText(prepared.error.message));
  const isAllowed = await askYesOrNo("Start from what is committed there now? [y/N] ");
  return isAllowed ? prepare(EXCEPTIONS) : prepared;
}
