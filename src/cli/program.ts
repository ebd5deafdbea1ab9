// Turns the words of one call into an exit code: parses them, builds the `Io` of the command, and reports every failure in one shape.
// wiring.ts lists the commands.

import { existsSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command, CommanderError } from "commander";
import { didYouMean, nearest } from "../core/check/suggest.ts";
import { stateFolderProblem } from "../settings/real-folder.ts";
import { homeOf } from "../settings/site.ts";
import { CliError, EXIT, problemError, reportError, usageError } from "./errors.ts";
import { examplesOf } from "./examples.ts";
import { EXAMPLES } from "./help-text.ts";
import type { Io } from "./terminal/io.ts";
import { meantCommand } from "./meant-command.ts";
import { spokenUnderNpx } from "./npx.ts";
import { withRun } from "./spoken-task.ts";
import { addCommands } from "./wiring.ts";
import { optional } from "../core/optional.ts";

type Globals = {
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly quiet?: boolean;
  readonly color: boolean;
  readonly ask: boolean;
  readonly cwd?: string;
  readonly home?: string;
  readonly project?: string;
  readonly trust?: boolean;
};

export async function runProgram(typed: readonly string[], version: string): Promise<number> {
  const args = withRun(typed);
  let exit: number = EXIT.ok;
  const program = buildProgram(version, args, (code) => (exit = code));
  try {
    await program.parseAsync([...args], { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    if (process.env["PASSRAIL_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
    const options = program.opts<Globals>();
    const spoken = spokenUnderNpx(process.env);
    const err = (line: string): void => void process.stderr.write(`${json ? line : spoken(line)}\n`);
    // Commander stops at the first word that it does not know; --json may follow it.
    const json = options.json === true || beforeTexts(args).includes("--json");
    return reportError(
      { err, json, color: usesColor(process.stderr, options) },
      error instanceof CommanderError ? toUsage(error, calledIn(program, args)) : error,
    );
  }
}

function buildProgram(version: string, args: readonly string[], done: (exit: number) => void): Command {
  const program = new Command("passrail")
    .description("Runs coding agents as a self-driving pipeline: verdicts pick the next stage, people decide at gates.")
    .usage('"task" | [command] [options]')
    .version(version)
    .option("--json", "JSON: one document, or one value per line for streams")
    .option("--plain", "tab-separated lines, the default on a pipe")
    .option("-q, --quiet", "ids only")
    .option("--no-color", "no colours, as with NO_COLOR or TERM=dumb")
    .option("--no-ask", "ask nothing on the terminal; everything that waits is in the inbox")
    .option("--cwd <dir>", "the project folder (default: the current folder)")
    .option("--home <dir>", "the state folder (default: PASSRAIL_HOME)")
    .option("--project <name>", "a registered project instead of a folder, see: passrail projects list")
    .option("--trust", "approve the project's files as they are now, as with: passrail trust --yes")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({ subcommandTerm: (command) => termOf(command) })
    .addHelpText("after", EXAMPLES);
  const call = async (command: (io: Io) => Promise<number>): Promise<void> => {
    const io = await buildIo(program.opts<Globals>());
    if (program.opts<Globals>().trust === true) (await import("./trust.ts")).approveNow(io);
    done(await command(io));
  };
  addCommands(program, { call, version }, args);
  for (const command of program.commands) addExamples(command, command.name());
  program.argument("[word...]").action(async (words: readonly string[]) => {
    requireKnown(program, words);
    await call(async (io) => {
      const { isWorkPlace } = await import("./commands/work/work-place.ts");
      if (await isWorkPlace(io))
        return (await import("./commands/work/work.ts")).work(io, { once: false, runners: [] });
      return (await import("./commands/overview/overview.ts")).glance(io);
    });
  });
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    if (GROUPS_THAT_ACT.has(group.name())) continue;
    group
      .argument("[word...]")
      .usage("<command> [options]")
      .action((words: readonly string[]) => {
        requireKnown(group, words);
        const verbs = group.commands.map((command) => command.name());
        throw usageError(
          "command_missing",
          `passrail ${group.name()} needs a command: ${verbs.join(", ")}.`,
          `passrail ${group.name()} --help`,
        );
      });
  }
  return program;
}

/** Made when a person asks for help. */
function addExamples(command: Command, path: string): void {
  command.addHelpText("after", () => examplesText(examplesOf(path)));
  for (const each of command.commands) addExamples(each, `${path} ${each.name()}`);
}

function examplesText(examples: readonly string[]): string {
  return examples.length === 0 ? "" : `\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}\n`;
}

/** Groups whose name alone is a command. */
const GROUPS_THAT_ACT: ReadonlySet<string> = new Set(["worker", "config", "trust"]);

/** Help shows a group with `<command>`; the group itself accepts any word, to explain an unknown one. */
function termOf(command: Command): string {
  if (command.commands.length > 0) return `${command.name()} <command>`;
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

function requireKnown(group: Command, words: readonly string[]): void {
  const [word] = words;
  if (word === undefined) return;
  if (group.parent === null && words.every((each) => each.trim() === ""))
    throw usageError("task_empty", "The task is empty.", 'passrail "Fix the typo in the README"');
  const known = group
    .createHelp()
    .visibleCommands(group)
    .map((command) => command.name());
  const path = group.parent === null ? "passrail" : `passrail ${group.name()}`;
  throw usageError(
    "unknown_command",
    `There is no command "${word}".`,
    [...meant(group, words, known), `Usage: ${path} <command>   see: ${path} --help`].join("\n"),
  );
}

/** Several words without quotes are most likely a task, and a list of commands would hide that. */
function meant(group: Command, words: readonly string[], known: readonly string[]): readonly string[] {
  const [word = ""] = words;
  if (group.parent !== null) return [didYouMean(word, known, "commands")];
  const other = meantCommand(word);
  if (words.length === 1) return [other ?? didYouMean(word, known, "commands")];
  const near = nearest(word, known);
  return [
    `A task is one text: passrail ${JSON.stringify(words.join(" "))}`,
    ...(other === undefined ? [] : [other]),
    ...(other === undefined && near !== undefined ? [`did you mean "${near}"?`] : []),
  ];
}

async function buildIo(options: Globals): Promise<Io> {
  const home = resolve(options.home ?? homeOf(process.env));
  const unusable = stateFolderProblem(home);
  if (unusable !== undefined) throw new CliError(unusable.code, unusable.message, unusable.hint, EXIT.usage);
  if (options.project !== undefined && options.cwd !== undefined)
    throw usageError("project_twice", "Give --project or --cwd, not both.");
  const named = options.project === undefined ? undefined : await folderOf(home, options.project);
  const cwd = resolve(named ?? options.cwd ?? ".");
  if (!existsSync(cwd)) throw new CliError("cwd_not_found", `There is no folder ${cwd}.`);
  if (!statSync(cwd).isDirectory()) throw new CliError("cwd_not_found", `${cwd} is a file, not a folder.`);
  const { stdout } = process;
  const tty = stdout.isTTY && stdout.columns > 0;
  const json = options.json === true;
  const spoken = json ? (line: string) => line : spokenUnderNpx(process.env);
  return {
    // On a pipe it is data.
    out: (line) => void stdout.write(`${tty ? spoken(line) : line}\n`),
    err: (line) => void process.stderr.write(`${spoken(line)}\n`),
    json,
    plain: options.plain === true || !tty,
    quiet: options.quiet === true,
    color: usesColor(stdout, options),
    tty,
    columns: tty ? stdout.columns : 80,
    noAsk: !options.ask,
    environment: process.env,
    cwd: realpathSync(cwd),
    home,
    ...optional({ project: options.project }),
  };
}

async function folderOf(home: string, name: string): Promise<string> {
  const { requireProject } = await import("../app/projects.ts");
  const found = requireProject(home, name);
  if (!found.ok) throw problemError(found.error);
  return found.value.folder;
}

function usesColor(stream: NodeJS.WriteStream, { color }: Globals): boolean {
  const { NO_COLOR: noColor, TERM: term } = process.env;
  return stream.isTTY && color && (noColor === undefined || noColor === "") && term !== "dumb";
}

/** The command whose help says more: `passrail runs list`. */
function calledIn(program: Command, args: readonly string[]): string {
  let command = program;
  for (const word of args) command = command.commands.find((each) => each.name() === word) ?? command;
  const path: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) path.unshift(each.name());
  return path.join(" ");
}

function beforeTexts(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

/** `error: unknown option '--foo'\n(Did you mean --json?)` */
function toUsage(error: CommanderError, command: string): CliError {
  const [first = "", ...rest] = error.message.replace(/^error: /u, "").split("\n");
  const code = error.code.replace(/^commander\./u, "").replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  const hint = [...rest.map((line) => line.replace(/^\((.*)\)$/u, "$1")), `see: ${command} --help`].join("\n");
  return usageError(code, `${first.charAt(0).toUpperCase()}${first.slice(1)}${first.endsWith(".") ? "" : "."}`, hint);
}
