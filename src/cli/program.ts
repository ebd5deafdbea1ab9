// Turns the words of one call into an exit code: parses them, builds the `Io` of the command, and reports every failure in one shape.
// wiring.ts lists the commands.

import { existsSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command, CommanderError } from "commander";
import { didYouMean } from "../core/check/suggest.ts";
import { CliError, EXIT, reportError, usageError } from "./errors.ts";
import { EXAMPLES } from "./help-text.ts";
import type { Io } from "./terminal/io.ts";
import { addCommands } from "./wiring.ts";

type Globals = {
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly quiet?: boolean;
  readonly color: boolean;
  readonly cwd?: string;
  readonly home?: string;
};

export async function runProgram(args: readonly string[], version: string): Promise<number> {
  let exit: number = EXIT.ok;
  const program = await buildProgram(version, args, (code) => (exit = code));
  try {
    await program.parseAsync([...args], { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    if (process.env["PASSRAIL_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
    const options = program.opts<Globals>();
    const err = (line: string): void => void process.stderr.write(`${line}\n`);
    // Commander stops at the first word that it does not know; --json may follow it.
    const json = options.json === true || beforeTexts(args).includes("--json");
    return reportError(
      { err, json, color: usesColor(process.stderr, options) },
      error instanceof CommanderError ? toUsage(error) : error,
    );
  }
}

async function buildProgram(version: string, args: readonly string[], done: (exit: number) => void): Promise<Command> {
  const program = new Command("passrail")
    .description("Runs coding agents as a self-driving pipeline: verdicts pick the next stage, people decide at gates.")
    .usage("[command] [options]")
    .version(version)
    .option("--json", "JSON: one document, or one value per line for streams")
    .option("--plain", "tab-separated lines, the default on a pipe")
    .option("-q, --quiet", "ids only")
    .option("--no-color", "no colours, as with NO_COLOR or TERM=dumb")
    .option("--cwd <dir>", "the project folder (default: the current folder)")
    .option("--home <dir>", "the state folder (default: PASSRAIL_HOME)")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({ subcommandTerm: (command) => termOf(command) })
    .addHelpText("after", EXAMPLES);
  const call = async (command: (io: Io) => Promise<number>): Promise<void> =>
    done(await command(await buildIo(program.opts<Globals>())));
  await addCommands(program, { call, version }, args);
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
  const known = group
    .createHelp()
    .visibleCommands(group)
    .map((command) => command.name());
  const path = group.parent === null ? "passrail" : `passrail ${group.name()}`;
  throw usageError(
    "unknown_command",
    `There is no command "${word}".`,
    `${didYouMean(word, known, "commands")}\nUsage: ${path} <command>   see: ${path} --help`,
  );
}

async function buildIo(options: Globals): Promise<Io> {
  const { homeOf } = await import("../settings/site.ts");
  const cwd = resolve(options.cwd ?? ".");
  if (!existsSync(cwd) || !statSync(cwd).isDirectory())
    throw new CliError("cwd_not_found", `There is no folder ${cwd}.`);
  const { stdout } = process;
  const tty = stdout.isTTY && stdout.columns > 0;
  const json = options.json === true;
  return {
    out: (line) => void stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    json,
    plain: options.plain === true || !tty,
    quiet: options.quiet === true,
    color: usesColor(stdout, options),
    tty,
    columns: tty ? stdout.columns : 80,
    environment: process.env,
    cwd: realpathSync(cwd),
    home: resolve(options.home ?? homeOf(process.env)),
  };
}

function usesColor(stream: NodeJS.WriteStream, { color }: Globals): boolean {
  const { NO_COLOR: noColor, TERM: term } = process.env;
  return stream.isTTY && color && (noColor === undefined || noColor === "") && term !== "dumb";
}

function beforeTexts(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

/** `error: unknown option '--foo'\n(Did you mean --json?)` */
function toUsage(error: CommanderError): CliError {
  const [first = "", ...rest] = error.message.replace(/^error: /u, "").split("\n");
  const code = error.code.replace(/^commander\./u, "").replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  const hint = [...rest.map((line) => line.replace(/^\((.*)\)$/u, "$1")), "see: passrail --help"].join("\n");
  return usageError(code, `${first.charAt(0).toUpperCase()}${first.slice(1)}${first.endsWith(".") ? "" : "."}`, hint);
}
