// Reads the Markdown pages: their fenced blocks and the commands in them. The info string of a fence says what the block is:
//   console  lines that begin with `$ ` are commands, the lines below each one are the output that a reader should see
//   sh       every line is a command
//   usage    one command per line with placeholders; it must parse, it is not executed
//   yaml     a block that begins with `flow: NAME` is saved as that flow before the page's commands run

import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Fence = { readonly page: string; readonly line: number; readonly info: string; readonly lines: string[] };

/** One command of a page with the output lines that the page shows for it. */
export type Step = { readonly line: number; readonly command: string; readonly shown: readonly string[] };

const FENCE = /^ {0,3}```(.*)$/u;

export function readFences(root: string, page: string): Fence[] {
  return fencesOf(page, readFileSync(join(root, page), "utf8"));
}

export function fencesOf(page: string, text: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = FENCE.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === null) open = { page, line: index + 1, info: (fence[1] ?? "").trim(), lines: [] };
    else {
      fences.push(open);
      open = null;
    }
  }
  return fences;
}

/** The commands of a block that is executed, in order. */
export function stepsOf({ info, line, lines }: Fence): Step[] {
  if (info === "console") return consoleSteps(line, lines);
  return info === "sh" ? shellSteps(line, lines) : [];
}

function consoleSteps(start: number, lines: readonly string[]): Step[] {
  const steps: { line: number; command: string; shown: string[] }[] = [];
  for (const [index, text] of lines.entries()) {
    const last = steps.at(-1);
    if (text.startsWith("$ ")) steps.push({ line: start + index + 1, command: text.slice(2), shown: [] });
    else if (text.startsWith("> ") && last?.shown.length === 0) last.command += `\n${text.slice(2)}`;
    else if (text.trim() !== "") last?.shown.push(text);
  }
  return steps;
}

/** A line that ends with a backslash goes on in the next one; a here document ends with its word. */
function shellSteps(start: number, lines: readonly string[]): Step[] {
  const steps: Step[] = [];
  let open: { line: number; text: string } | null = null;
  for (const [index, text] of lines.entries()) {
    if (open === null && (text.trim() === "" || text.startsWith("#"))) continue;
    const { line, text: before }: { line: number; text: string } = open ?? { line: start + index + 1, text: "" };
    const whole: string = before === "" ? text : `${before}\n${text}`;
    open = isWhole(whole) ? null : { line, text: whole };
    if (open === null) steps.push({ line, command: whole, shown: [] });
  }
  return steps;
}

function isWhole(command: string): boolean {
  const word = /<<-?\s*['"]?(\w+)['"]?/u.exec(command)?.[1];
  if (word !== undefined) return command.split("\n").slice(1).includes(word);
  return !command.endsWith("\\");
}

/** Flows that a page shows whole: name -> text. */
export function flowsOf(fences: readonly Fence[]): ReadonlyMap<string, string> {
  const whole = fences.filter(({ info }) => info === "yaml").map(({ lines }) => `${lines.join("\n")}\n`);
  return new Map(
    whole.flatMap((text): [string, string][] => {
      const name = /^flow: ([a-z-]+)$/mu.exec(text.split("\n")[0] ?? "")?.[1];
      return name === undefined ? [] : [[name, text]];
    }),
  );
}

/** Code spans of a page's prose: `passrail runs list`. */
export function spansOf(text: string): string[] {
  const prose = text.replaceAll(/^ {0,3}```[\s\S]*?^ {0,3}```/gmu, "");
  return [...prose.matchAll(/`([^`\n]+)`/gu)].map(([, span = ""]) => span);
}
