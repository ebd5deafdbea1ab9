// `complete -- words`: the possible last words, one per line with a tab and a description. It answers from the same
// registrations that parse a call. It never fails: a shell that asks while a person types must not print errors.

import type { Command, Option } from "commander";
import { resolve } from "node:path";
import { listProjects } from "../../../app/projects.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { type CompletedWord, type CompletionPlace, valuesOf } from "./values.ts";

const ABOUT_WIDTH = 80;

export async function complete(io: Io, program: Command, words: readonly string[]): Promise<number> {
  const current = words.at(-1) ?? "";
  const found = await candidates(io, program, words).catch((): readonly CompletedWord[] => []);
  for (const { word, about } of found) {
    if (word.startsWith(":")) io.out(word);
    else if (word.startsWith(current)) io.out(about === "" ? word : `${word}\t${oneLine(about, ABOUT_WIDTH)}`);
  }
  return EXIT.ok;
}

async function candidates(io: Io, program: Command, words: readonly string[]): Promise<readonly CompletedWord[]> {
  const current = words.at(-1) ?? "";
  const typed = readWords(program, words.slice(0, -1));
  const place: CompletionPlace = { io: placedBy(io, typed.values), command: typed.command, given: typed.given };
  if (typed.open !== undefined) return optionValues(place, typed.open);
  if (current.startsWith("-") && !typed.isText) return options(typed.command);
  const commands = typed.given.length === 0 ? visibleCommands(typed.command) : [];
  const { registeredArguments } = typed.command;
  const argument = registeredArguments[typed.given.length] ?? registeredArguments.find(({ variadic }) => variadic);
  if (argument === undefined || commands.length > 0) return commands;
  return (argument.argChoices ?? []).length > 0
    ? (argument.argChoices ?? []).map((word) => ({ word, about: "" }))
    : valuesOf(place, argument.name());
}

/** `open`: the option whose value is the word at the cursor. `given`: the arguments before it. */
type Typed = {
  readonly command: Command;
  readonly given: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly open: Option | undefined;
  readonly isText: boolean;
};

function readWords(program: Command, words: readonly string[]): Typed {
  let command = program;
  let open: Option | undefined;
  let isText = false;
  const given: string[] = [];
  const values = new Map<string, string>();
  for (const word of words) {
    if (open !== undefined) {
      values.set(open.attributeName(), word);
      open = undefined;
    } else if (isText) given.push(word);
    else if (word === "--") isText = true;
    else if (word.startsWith("-")) {
      const option = [command, program]
        .flatMap((each) => each.options)
        .find(({ long, short }) => word === long || word === short);
      if (option?.required === true) open = option;
    } else {
      const next = given.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (next === undefined) given.push(word);
      else command = next;
    }
  }
  return { command, given, values, open, isText };
}

/** The folder and the state folder that the words before the cursor choose. */
function placedBy(io: Io, values: ReadonlyMap<string, string>): Io {
  const home = values.has("home") ? resolve(values.get("home") ?? "") : io.home;
  const known = values.has("project") ? listProjects(home) : undefined;
  const project = known?.ok === true ? known.value.find(({ name }) => name === values.get("project")) : undefined;
  const cwd = project?.folder ?? (values.has("cwd") ? resolve(values.get("cwd") ?? "") : io.cwd);
  return { ...io, home, cwd };
}

function visibleCommands(command: Command): readonly CompletedWord[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ word: each.name(), about: each.description() }));
}

function options(command: Command): readonly CompletedWord[] {
  const all: readonly Option[] = [...command.options, ...(command.parent === null ? [] : globalsOf(command))];
  const shown = all.filter(({ hidden }) => !hidden).map(({ long, short, description }) => [long ?? short, description]);
  return [...shown, ["--help", "help of this command"]].map(([word = "", about = ""]) => ({ word, about }));
}

function globalsOf(command: Command): readonly Option[] {
  return command.parent === null ? command.options : globalsOf(command.parent);
}

async function optionValues(place: CompletionPlace, option: Option): Promise<readonly CompletedWord[]> {
  if (option.argChoices !== undefined) return option.argChoices.map((word) => ({ word, about: "" }));
  return valuesOf(place, option.attributeName());
}
