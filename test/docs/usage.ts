// Which commands of the program a text names, and whether the program knows them and their flags. It asks `--help`, nothing else.

import { vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";

/** A call of the program as a page writes it: `runs list` with the flags behind it. */
export type Call = { readonly path: readonly string[]; readonly flags: readonly string[] };

type Help = { readonly path: string; readonly isGroup: boolean; readonly flags: ReadonlySet<string> };

const ARGUMENT = String.raw`(?:"[^"]*"|'[^']*'|[^\s|;&)#"'])+`;
const CALL = new RegExp(String.raw`(?:^|[|;&(]\s*|\$\(\s*)passrail((?:[ \t]+${ARGUMENT})*)`, "gmu");

/** Every call of `passrail` in a shell command. */
export function callsIn(command: string): Call[] {
  return [...command.replaceAll("\\\n", " ").matchAll(CALL)].map(([, words = ""]) => callOf(words.trim()));
}

/** A line of a `usage` block, or a code span: `passrail runs cancel|pause RUN   [--json]`. Each alternative is a call. */
export function usageIn(line: string): Call[] {
  if (!/^passrail\b/u.test(line)) return [];
  const [signature = ""] = line.split(/ {2,}/u);
  const { path } = callOf(signature.split(" ").slice(1).join(" "));
  const flags = flagsIn(line);
  const paths = path.reduce<string[][]>(
    (all, word) => all.flatMap((before) => word.split("|").map((each) => [...before, each])),
    [[]],
  );
  return paths.map((each) => ({ path: each, flags }));
}

function callOf(words: string): Call {
  const all = words.split(/\s+/u).filter((word) => word !== "");
  const end = all.findIndex((word) => !/^[a-z][a-z|-]*$/u.test(word));
  return { path: (end === -1 ? all : all.slice(0, end)).slice(0, 2), flags: flagsIn(words) };
}

function flagsIn(text: string): string[] {
  const [own = ""] = text.replaceAll(/"[^"]*"|'[^']*'/gu, '""').split(/ -- /u);
  return [...own.matchAll(/(?<![\w'"=-])--[a-z][a-z-]*/gu)].map(([flag]) => flag);
}

/** One sentence per alternative that is no command, and per flag that none of the alternatives has. */
export async function problemsOf(calls: readonly Call[]): Promise<string[]> {
  const helps = await Promise.all(calls.map(async ({ path }) => helpOf(path)));
  const known = new Set([...(await helpOf([])).flags, ...helps.flatMap(({ flags }) => [...flags])]);
  const commands = calls.flatMap(({ path }, index) => {
    const help = helps[index];
    const words = path.join(" ");
    return help?.isGroup === true && help.path !== words ? [`there is no command "passrail ${words}"`] : [];
  });
  const flags = calls[0]?.flags.filter((flag) => !known.has(flag)) ?? [];
  return [...commands, ...flags.map((flag) => `"passrail ${calls[0]?.path.join(" ")}" has no flag ${flag}`)];
}

/** The command that a call names, without its arguments: `run feature` is `run`. */
export async function commandOf({ path }: Call): Promise<string> {
  return (await helpOf(path)).path;
}

const helps = new Map<string, Promise<Help>>();

function helpOf(path: readonly string[]): Promise<Help> {
  const key = path.join(" ");
  const found = helps.get(key) ?? turns.then(() => askHelp(path));
  if (!helps.has(key)) turns = found.catch(() => undefined);
  helps.set(key, found);
  return found;
}

/** The output is captured, so one call at a time. */
let turns: Promise<unknown> = Promise.resolve();

async function askHelp(path: readonly string[]): Promise<Help> {
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    await runProgram([...path, "--help"], "0.0.0");
  } finally {
    write.mockRestore();
  }
  const usage = /^Usage: passrail ?([^\n]*)/u.exec(text)?.[1] ?? "";
  const words = usage.split(" ");
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/u.test(word));
  return {
    path: words.slice(0, end === -1 ? undefined : end).join(" "),
    isGroup: usage.includes("<command>") || usage.includes("[command]"),
    flags: new Set([...text.matchAll(/--[a-z][a-z-]*/gu)].map(([flag]) => flag)),
  };
}
