// `logs`: the last lines of the daemon's log, across its rotated files, and with --follow the new ones as they are written.

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { logFile } from "../../../daemon/log.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { openForReading } from "../../../store/open-store.ts";
import { EXIT, usageError } from "../../errors.ts";
import { catchSignals } from "../../interrupt.ts";
import type { Io } from "../../terminal/io.ts";
import { plainText } from "../../terminal/plain-text.ts";

export type LogsOptions = { readonly follow: boolean; readonly lines: string };

const LOOK_MS = 200;
const TAIL_BYTES = 4 * 1024 * 1024;
const KEPT_FILES = 5;
const LINE = /^(?<at>\S+) (?<text>(?:#(?<number>[0-9]{1,12}) )?.*)$/u;

export async function logs(io: Io, options: LogsOptions): Promise<number> {
  const count = Number(options.lines);
  if (!/^[0-9]{1,6}$/u.test(options.lines)) throw usageError("number_invalid", "--lines: a number up to 999999.");
  const file = logFile(io.home);
  const isShown = filterOf(io);
  if (!options.follow && statSync(file, { throwIfNoEntry: false }) === undefined)
    io.err(`There is no log yet at ${plainText(file)}: passrail up --detach   starts a daemon, which writes it`);
  const { text, place } = lastPart(file);
  const shown = [];
  for (const line of text.split("\n").filter((each) => each !== "")) if (await isShown(line)) shown.push(line);
  for (const line of count === 0 ? [] : shown.slice(-count)) print(io, line);
  if (options.follow) await follow(io, file, place, isShown);
  return EXIT.ok;
}

function print(io: Io, line: string): void {
  const { at = "", text = line, number } = LINE.exec(line)?.groups ?? {};
  if (io.json) io.out(JSON.stringify({ at, run: number === undefined ? null : Number(number), line: text }));
  else io.out(plainText(line));
}

type Place = { readonly inode: number; readonly at: number };

/** The end of the log, with earlier files before it as far as it is shorter. */
function lastPart(file: string): { readonly text: string; readonly place: Place } {
  const now = readFrom(file, 0);
  let text = now.text;
  for (let n = 1; n <= KEPT_FILES && text.length < TAIL_BYTES; n++) text = `${readFrom(`${file}.${n}`, 0).text}${text}`;
  return { text, place: now.place };
}

/** At most the last TAIL_BYTES; a line that is not finished yet is left for the next look. */
function readFrom(file: string, from: number): { readonly text: string; readonly place: Place } {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return { text: "", place: { inode: 0, at: 0 } };
  }
  try {
    const { ino: inode, size } = fstatSync(descriptor);
    const start = Math.max(size < from ? 0 : from, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const read = readSync(descriptor, buffer, 0, buffer.length, start);
    const whole = buffer.subarray(0, read).lastIndexOf(0x0a) + 1;
    return { text: buffer.toString("utf8", 0, whole), place: { inode, at: start + whole } };
  } finally {
    closeSync(descriptor);
  }
}

async function follow(io: Io, file: string, from: Place, isShown: (line: string) => Promise<boolean>): Promise<void> {
  const signals = catchSignals(async () => undefined);
  let place = from;
  try {
    for (;;) {
      const { text, next } = since(file, place);
      place = next;
      for (const line of text.split("\n")) if (line !== "" && (await isShown(line))) print(io, line);
      const pause = new Promise<undefined>((resolve) => setTimeout(resolve, LOOK_MS, undefined));
      if ((await Promise.race([pause, signals.caught])) !== undefined) return;
    }
  } finally {
    signals.release();
  }
}

/** After a rotation the rest of the old file comes first. */
function since(file: string, { inode, at }: Place): { readonly text: string; readonly next: Place } {
  const now = statSync(file, { throwIfNoEntry: false });
  if (now === undefined) return { text: "", next: { inode, at } };
  if (now.ino === inode || inode === 0) {
    const { text, place } = readFrom(file, inode === 0 ? 0 : at);
    return { text, next: place };
  }
  const rotated = statSync(`${file}.1`, { throwIfNoEntry: false })?.ino === inode ? readFrom(`${file}.1`, at).text : "";
  const { text, place } = readFrom(file, 0);
  return { text: `${rotated}${text}`, next: place };
}

/** With --project: the lines of runs in that project's folder. */
function filterOf(io: Io): (line: string) => Promise<boolean> {
  if (io.project === undefined) return async () => true;
  const known = new Map<string, boolean>();
  return async (line) => {
    const number = LINE.exec(line)?.groups?.["number"];
    if (number === undefined) return false;
    const answer = known.get(number) ?? (await isOf(io, number));
    known.set(number, answer);
    return answer;
  };
}

async function isOf(io: Io, number: string): Promise<boolean> {
  const store = await openForReading(io);
  try {
    const id = (await store?.findRuns(number))?.find((run) => String(run.number) === number)?.id;
    const stored = id === undefined ? undefined : await store?.loadRun(id);
    return stored !== undefined && projectOf(stored.run) === io.cwd;
  } finally {
    store?.close();
  }
}
