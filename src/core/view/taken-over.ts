// A takeover in words.

import { shellWord } from "../shell-word.ts";
import { type HandedBack, type Run, takenOver } from "../run/run.ts";

/** `taken over by ann: build, since 2026-11-18 02:30 UTC`; undefined if no stage is taken over. */
export function takenText(run: Run): string | undefined {
  const track = takenOver(run)?.track;
  if (track === undefined) return undefined;
  const { by, stage, since, lent, returning } = track;
  if (returning !== undefined) return `${returning.by} is handing ${stage} back`;
  const ending = lent === undefined ? "; its agent is still ending" : "";
  return `taken over by ${by}: ${stage}, since ${since.slice(0, 16).replace("T", " ")} UTC${ending}`;
}

/** `2 commits, 3 files changed`; what became of changes that the person did not want. */
export function handedBackText({ commits, stat, discarded }: Omit<HandedBack, "by" | "note">): string {
  if (discarded !== null) return `without the changes, which are kept under ${discarded}`;
  const files = stat === "" ? 0 : stat.trim().split("\n").length;
  if (commits === 0 && files === 0) return "nothing changed";
  const parts = [count(commits, "commit"), files === 0 ? "no changed file" : `${count(files, "file")} changed`];
  return parts.join(", ");
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** One line for a shell that opens the session in its folder; only the folder where there is no session. */
export function takeoverLine({
  dir,
  command,
  env,
}: {
  readonly dir: string | null;
  readonly command: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
}): string {
  const place = `cd ${word(dir ?? ".")}`;
  if (command === null) return place;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${word(value)}`);
  return `${place} && ${[...variables, ...command.map(word)].join(" ")}`;
}

function word(text: string): string {
  return /^[A-Za-z0-9_./:@=-]+$/u.test(text) ? text : shellWord(text);
}
