// `flow check`: reports each problem of a flow with its place, its line and a fix. Checks all flows if none is named.

import { isAbsolute, join, relative, resolve } from "node:path";
import type { Catalog, CatalogFolders } from "../../../catalog/catalog.ts";
import { runnerChoiceOf } from "../../../core/flow/runner-choice.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { FileProblem } from "../../../core/check/problem.ts";
import { readText } from "../../../file/read-text.ts";
import { loadSettings } from "../../../settings/load.ts";
import { SETTINGS_FILE } from "../../../settings/site.ts";
import { valueOf } from "../../../settings/trust/project-files.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { openCatalog } from "./catalog.ts";

export async function flowCheck(io: Io, targets: readonly string[]): Promise<number> {
  const catalog = openCatalog(io, await fromSettings(io));
  const wanted = targets.length === 0 ? catalog.listFlows().map(({ name }) => name) : targets;
  // Two targets may be the same file, and all flows share the agents' files.
  const problems = unique([
    ...wanted.flatMap((target) => problemsOf(io, catalog, target)),
    ...catalog.agents().problems,
  ]);
  const shown = problems.map((problem) => ({ ...problem, file: shortPath(io.cwd, problem.file) }));
  const errors = shown.filter(({ severity }) => severity === "error").length;
  if (io.json) printJson(io, shown);
  else {
    for (const problem of shown) io.out(formatProblem(problem));
    if (!io.quiet) io.err(summary(wanted.length, errors, shown.length - errors));
  }
  return errors > 0 ? EXIT.error : EXIT.ok;
}

/** Checks and runners in the settings, and the checks that the project's file defines now; settings with an error are another command's matter. */
async function fromSettings({ home, cwd, environment }: Io): Promise<Pick<CatalogFolders, "checks" | "runnerOf">> {
  const settings = await loadSettings({ home, project: cwd, environment, flags: {}, unapproved: "show" });
  if (!settings.ok) return {};
  const { agents: runners, checks, runner } = settings.value;
  const facts = { runners, config: runner.value === "none" ? {} : { runner: runner.value } } as JsonObject;
  return {
    checks: new Set([...Object.keys(checks), ...editedChecks(cwd)]),
    runnerOf: (stage, agents) => runnerChoiceOf({ agents: Object.fromEntries(agents) }, facts, stage)?.runner,
  };
}

/** The names in the project's file as it is now, approved or not. */
function editedChecks(cwd: string): readonly string[] {
  const text = readText(join(cwd, SETTINGS_FILE), cwd, "settings");
  const edited = text.ok ? valueOf(SETTINGS_FILE, text.value) : undefined;
  const checks = typeof edited === "object" && edited !== null && "checks" in edited ? edited.checks : undefined;
  return typeof checks === "object" && checks !== null ? Object.keys(checks) : [];
}

/** A target is the name of a flow, or the path of a file. */
function problemsOf(io: Io, catalog: Catalog, target: string): readonly FileProblem[] {
  if (!target.includes("/") && !/\.ya?ml$/u.test(target)) return listOf(catalog.requireFlow(target));
  const path = resolve(io.cwd, target);
  const known = catalog.listFlows().find(({ file }) => resolve(file) === path);
  return listOf(known === undefined ? catalog.checkFile(path) : catalog.requireFlow(known.name));
}

function listOf(checked: ReturnType<Catalog["requireFlow"]>): readonly FileProblem[] {
  return checked.ok ? checked.value.problems : checked.error;
}

function unique(problems: readonly FileProblem[]): readonly FileProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function shortPath(cwd: string, file: string): string {
  const short = relative(cwd, file);
  return isAbsolute(file) && !short.startsWith("..") && short !== "" ? short : file;
}

/** file:line:col: error code: message, the line itself, a caret below the column, and what to do. */
function formatProblem({ file, line, column, severity, code, message, hint, text }: FileProblem): string {
  const lines = [`${file}:${line}:${column}: ${severity} ${code}: ${message}`];
  if (text !== undefined && text.trim() !== "") {
    const shown = text.replaceAll("\t", " ");
    lines.push(`  ${shown}`);
    if (column <= shown.length) lines.push(`  ${" ".repeat(column - 1)}^`);
  }
  if (hint !== undefined) lines.push(`  hint: ${hint}`);
  return lines.map((part) => plainText(part)).join("\n");
}

function summary(flows: number, errors: number, warnings: number): string {
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
  return `${count(flows, "flow")} checked: ${count(errors, "error")}, ${count(warnings, "warning")}`;
}
