// The files and folders that a start names. All are read and checked before anything is stored, also those that a
// program, a trigger or a webhook names. A statement of a file (its complexity) becomes a fact; a given fact that
// contradicts it is refused.

import type { Flow, FlowInput, StatedFact } from "../../core/flow/flow.ts";
import { allowed, givenValue, readStated } from "../../core/input/stated.ts";
import { inputsOf } from "../../core/input/inputs-of.ts";
import { type Json, type JsonObject, lookUp } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { type InputText, readInputFile, readInputFolder } from "../../file/input-file.ts";
import { withFact } from "./inputs.ts";
import { optional } from "../../core/optional.ts";

export type GivenFile = InputText & { readonly name: string };
export type GivenFolder = {
  readonly name: string;
  readonly path: string;
  readonly repository?: string;
  /** A person named it as a repository of its own: anything else is refused. */
  readonly isRepository?: boolean;
};

export type GivenFiles = {
  /** The given facts with clean paths, and with the facts that the files state. */
  readonly facts: JsonObject;
  readonly files: readonly GivenFile[];
  readonly folders: readonly GivenFolder[];
};

export function readGivenFiles(flow: Flow, project: string, given: JsonObject): Result<GivenFiles> {
  const inputs = inputsOf(flow);
  const missing = inputs.filter(({ name, required }) => required && isOpen(lookUp(given, name.split("."))));
  if (missing.length > 0) return err(missingInputs(flow, missing));
  let facts = given;
  const files: GivenFile[] = [];
  const folders: GivenFolder[] = [];
  for (const input of inputs) {
    const value = lookUp(given, input.name.split("."));
    if (isOpen(value)) continue;
    const read = readOne(project, input, value);
    if (!read.ok) return read;
    facts = withFact(facts, input.name.split("."), read.value.path);
    if ("text" in read.value) files.push(read.value);
    else folders.push(read.value);
  }
  const stated = withStated(facts, inputs, files);
  return stated.ok ? ok({ facts: stated.value, files, folders }) : stated;
}

/** The repositories that a start or the settings name, besides the flow's own folders. */
export function readNamedRepositories(
  project: string,
  named: readonly string[],
  folders: readonly GivenFolder[],
): Result<readonly GivenFolder[]> {
  const found: GivenFolder[] = [...folders];
  for (const folder of named) {
    const read = readInputFolder(project, folder);
    if (!read.ok) return err(refused("repositories", `${shown(folder)} ${read.error}`));
    const path = read.value;
    if (/\p{Cc}/u.test(path)) return err(refused("repositories", `${shown(path)} has control characters in its name`));
    const at = found.findIndex((each) => each.path === path);
    if (at < 0) found.push({ name: path, path, isRepository: true });
  }
  return ok(found);
}

const isOpen = (value: Json | undefined): boolean => value === undefined || value === null || value === "";

function readOne(
  project: string,
  { name, kind, repository }: FlowInput,
  given: Json | undefined,
): Result<GivenFile | GivenFolder> {
  // A name such as 42 was read as a number; its text is the same.
  const value = typeof given === "number" || typeof given === "boolean" ? String(given) : given;
  if (typeof value !== "string") return err(refused(name, `must be the path of a ${kind}`));
  if (kind === "file") {
    const read = readInputFile(project, value);
    return read.ok ? ok({ name, ...read.value }) : err(refused(name, `${shown(value)} ${read.error}`));
  }
  const read = readInputFolder(project, value);
  if (!read.ok) return err(refused(name, `${shown(value)} ${read.error}`));
  return ok({ name, path: read.value, ...optional({ repository }) });
}

/** Adds what the files state. A value that a person gave must be a known one, and must not contradict the file. */
function withStated(facts: JsonObject, inputs: readonly FlowInput[], files: readonly GivenFile[]): Result<JsonObject> {
  let found = facts;
  for (const { name, states } of inputs)
    for (const state of states) {
      const value = lookUp(facts, state.fact.split("."));
      const given = value === null ? undefined : value;
      if (given !== undefined && givenValue(given, state) === undefined)
        return err(badValue(state.fact, `must be ${allowed(state.oneOf)}, not ${JSON.stringify(given).slice(0, 80)}`));
      const file = files.find((each) => each.name === name);
      if (file === undefined) continue;
      const stated = readStated(file.text, state);
      if (!stated.ok) return err(badValue(name, `${file.path} ${stated.error}`));
      if (stated.value === undefined) continue;
      if (given !== undefined && given !== stated.value) return err(contradicts(state, file, given, stated.value));
      found = withFact(found, state.fact.split("."), stated.value);
    }
  return ok(found);
}

function contradicts({ fact, labels }: StatedFact, { path }: GivenFile, given: Json, stated: Json): Problem {
  return {
    code: "input_contradicts",
    message: `${fact} is given as ${JSON.stringify(given)}, but ${path} says ${JSON.stringify(stated)}.`,
    hint: `Leave the input out, or change the line ${JSON.stringify(labels[0] ?? "")} of ${path}.`,
    field: `input/${fact}`,
  };
}

/** The exact words to type. */
function missingInputs({ name, family }: Flow, missing: readonly FlowInput[]): Problem {
  const list = missing.map(({ name: fact, about }) => (about === undefined ? fact : `${fact} (${about})`)).join(", ");
  const pairs = missing.map(({ name: fact }) => `--input ${fact}=FILE`).join(" ");
  return {
    code: "input_missing",
    message: `Flow ${name} does not start without ${list}.`,
    hint: `passrail run ${family ?? name} "title" ${pairs}`,
    field: `input/${missing[0]?.name ?? ""}`,
  };
}

const badValue = (name: string, why: string): Problem => ({
  code: "input_refused",
  message: `${name}: ${why}.`,
  field: `input/${name}`,
});

const refused = (name: string, why: string): Problem => ({
  code: "input_refused",
  message: `${name}: ${why}.`,
  field: name === "repositories" ? name : `input/${name}`,
  hint: "Inputs are text files and folders inside the project, without links.",
});

function shown(path: string): string {
  const line = path.replaceAll(/\p{Cc}+/gu, " ");
  return line === "" ? '""' : line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
