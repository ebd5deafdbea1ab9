// Programs that report in lines of JSON: reads the lines as they come, and concludes at the end. Each vendor's reader is in its own folder.

import { StringDecoder } from "node:string_decoder";
import type { LiveInput } from "./live-input.ts";
import { runProcess } from "./process.ts";
import type { AgentEvent, AttemptEnd, AttemptHooks, AttemptSpec, Conversation } from "../runner.ts";

/** Reads one vendor's stream: lines in, our events out, and a conclusion at the end. No clock, no files, no processes. */
export interface StreamReader {
  /** One line of stdout, without its line break. Unknown lines are tolerated, and nothing throws. */
  read(line: string): readonly AgentEvent[];
  /** One line of stderr, for programs that say there what they wait for. */
  readError?(line: string): readonly AgentEvent[];
  /**
   * The program sleeps until a limit of its vendor ends: if it prints nothing for this long, Passrail ends it and waits instead, without
   * a slot. Null while it does not.
   */
  readonly parkInMs?: number | null;
  /** True after the vendor's last event, when no part of the conversation is under way. */
  readonly over: boolean;
  /** After the program has ended. */
  conclude(end: ProgramEnd): { readonly conversation: Conversation; readonly finalText: string };
}

export type ProgramEnd = Pick<AttemptEnd, "reason" | "exitCode" | "signal" | "stderrTail">;

/** A longer line is not an event; its beginning is enough to report it. */
const LINE_CHARS = 16 * 1024 * 1024;
/** A program that has finished and stays (some do) is ended after this. */
const LINGER_MS = 10_000;

export async function runStream(
  executable: string,
  spec: AttemptSpec,
  hooks: AttemptHooks,
  reader: StreamReader,
  input?: LiveInput,
): Promise<AttemptEnd> {
  let linger: NodeJS.Timeout | undefined;
  let finish = (): void => {};
  const tell = (events: readonly AgentEvent[]): void => {
    for (const event of events) hooks.onEvent?.(event);
    clearTimeout(linger);
    if (reader.over) input?.rest();
    const wait = reader.parkInMs ?? (reader.over ? LINGER_MS : null);
    if (wait !== null) linger = setTimeout(() => finish(), wait);
  };
  const lines = splitLines((line) => tell(reader.read(line)));
  const errors = splitLines((line) => tell(reader.readError?.(line) ?? []));
  try {
    const end = await runProcess(executable, spec, hooks, {
      begin: (stdin, over) => {
        finish = over;
        if (input === undefined) stdin.end(spec.prompt);
        else input.begin(stdin, spec.prompt);
      },
      onStdout: lines.push,
      ...(reader.readError === undefined ? {} : { onStderr: errors.push }),
    });
    lines.end();
    errors.end();
    const { conversation, finalText } = reader.conclude(end);
    return { ...end, stdoutTail: finalText, stdoutWhole: true, conversation };
  } finally {
    input?.close();
    clearTimeout(linger);
  }
}

/** Joins pieces of bytes into whole lines; a piece may end within a character. */
export function splitLines(onLine: (line: string) => void): {
  readonly push: (chunk: Uint8Array) => void;
  readonly end: () => void;
} {
  const decoder = new StringDecoder("utf8");
  let pieces: string[] = [];
  let chars = 0;
  const keep = (text: string): void => {
    if (chars < LINE_CHARS) pieces.push(text);
    chars += text.length;
  };
  const flush = (): void => {
    const line = pieces.join("");
    pieces = [];
    chars = 0;
    if (line.trim() !== "") onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  };
  return {
    push: (chunk) => {
      const text = decoder.write(chunk);
      let from = 0;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
        keep(text.slice(from, at));
        flush();
        from = at + 1;
      }
      if (from < text.length) keep(text.slice(from));
    },
    end: () => {
      keep(decoder.end());
      flush();
    },
  };
}
