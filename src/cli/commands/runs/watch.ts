// `runs watch`, `runs events` and `runs logs`: a run's history as progress lines, as events, and as the raw output of an attempt.

import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { attemptFiles, checkLog } from "../../../attempt/attempt-files.ts";
import { readNote } from "../../../app/retention/removed-note.ts";
import { removedText } from "../../../core/retention/retention.ts";
import { isName } from "../../../core/flow/name.ts";
import { isEnded, type Run } from "../../../core/run/run.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { eventsOf } from "../../../app/find-run.ts";
import type { Store, StoredEvent } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { isAgent } from "../../operator.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { askInPlace } from "../../ask-in-place.ts";
import { tellGate } from "../../gate-lines.ts";
import { printPhases, printRest } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { isSettled } from "../../terminal/run-view.ts";
import { exitOf, workOn } from "../../session.ts";
import { createView } from "../../terminal/view.ts";
import { pickAttempt } from "./attempt.ts";
import { createStory, type StoryWriter } from "./story.ts";

const LOOK_MS = 100;
const LINE_LIMIT = 64 * 1024;
/** An event in one line: the longest text with every character escaped. */
const EVENT_LIMIT = 1024 * 1024;

/** Follows a run until it stops or needs a person. If no other process performs it, this one does: a run never waits for a missing daemon. */
export async function runsWatch(io: Io, reference: string, options: { readonly exitStatus: boolean }): Promise<number> {
  const { run } = await withReader(io, (store) => requireRun(store, reference));
  const looked = isSettled(run)
    ? { run, performedBy: null }
    : isAgent(io)
      ? { run: await lookOn(io, run), performedBy: null }
      : await workOn(io, { runId: run.id, flags: {}, follow: true, stream: true, lines: "out" });
  const rest = isAgent(io) ? looked : await askInPlace(io, looked, {});
  const exit = options.exitStatus ? exitOf(rest.run) : EXIT.ok;
  await printPhases(io, rest.run);
  await printRest(io, rest, { stream: true, exit });
  await tellGate(io, rest.run);
  return exit;
}

/** For those who may look and not act. */
async function lookOn(io: Io, { id }: Run): Promise<Run> {
  return withReader(io, async (store) => {
    if (store === undefined) throw new CliError("run_not_found", `There is no run ${id}.`);
    const view = createView(io, { runId: id, after: await store.lastSeq(), stream: true, lines: "out" });
    for (;;) {
      await view.update(store);
      const stored = await store.loadRun(id);
      if (stored === undefined) throw new CliError("run_not_found", `There is no run ${id}.`);
      if (isSettled(stored.run)) return stored.run;
      await pause();
    }
  });
}

export async function runsEvents(io: Io, reference: string, options: { readonly follow: boolean }): Promise<number> {
  return withReader(io, async (store) => {
    const { run } = await requireRun(store, reference);
    if (store === undefined) return EXIT.error;
    if (!options.follow) {
      const events: StoredEvent[] = [];
      for await (const event of eventsOf(store, run.id)) events.push(event);
      if (io.json) printJson(io, { run: run.id, events: events.map(flat) });
      else for (const event of events) printEvent(io, event);
      return EXIT.ok;
    }
    let seen = 0;
    for (;;) {
      // Read before the events, so that the event which ends a run is always printed.
      const ended = await hasEnded(store, run.id);
      for await (const event of eventsOf(store, run.id, seen)) {
        seen = event.seq;
        if (io.json) io.out(JSON.stringify(flat(event)));
        else printEvent(io, event);
      }
      if (ended) return EXIT.ok;
      await pause();
    }
  });
}

function flat({ seq, runId, version, event, hash }: StoredEvent): Record<string, unknown> {
  return { seq, run: runId, version, ...event, hash };
}

function printEvent(io: Io, { seq, event }: StoredEvent): void {
  if (io.quiet) {
    io.out(String(seq));
    return;
  }
  const { type, at, actor, ...rest } = event;
  printTable(io, [[String(seq), at, type, actor, JSON.stringify(rest)].map((value) => ({ name: "", value }))]);
}

export async function runsLogs(
  io: Io,
  reference: string,
  options: { readonly stage?: string; readonly check?: string; readonly story: boolean; readonly follow: boolean },
): Promise<number> {
  const { check } = options;
  if (check !== undefined && !isName(check)) throw usageError("invalid_check", "--check: the name of a check.");
  return withReader(io, async (store) => {
    const { run } = await requireRun(store, reference);
    if (store === undefined) return EXIT.error;
    const { stage, attempt } = pickAttempt(await store.attempts(run.id), options.stage);
    const files = attemptFiles(io.home, run.id, stage, attempt);
    const path = options.story ? files.events : check === undefined ? files.output : checkLog(files, check);
    const source = openSource(path);
    const name = `${stage}#${attempt}`;
    const writer = createLineWriter(
      options.story ? { ...createStory(io, name), most: EVENT_LIMIT } : rawLines(io, name),
    );
    let isThere = false;
    for (;;) {
      const isOver = !options.follow || !(await isUnderWay(store, run.id, stage, attempt));
      for (;;) {
        const bytes = source.read();
        if (bytes === undefined) break;
        isThere = true;
        writer.write(bytes);
      }
      if (isOver) break;
      await pause();
    }
    source.close();
    writer.end();
    if (isThere) return EXIT.ok;
    const removed = readNote(io.home, run.id);
    if (removed !== undefined) throw new CliError("files_removed", removedText(removed));
    if (!io.json) io.err(nothingThere(name, options.story));
    return EXIT.ok;
  });
}

/** Reads a file that may still grow, or may not be there yet. */
function openSource(path: string): { readonly read: () => Buffer | undefined; readonly close: () => void } {
  let handle: number | undefined;
  const buffer = Buffer.alloc(LINE_LIMIT);
  return {
    read() {
      try {
        handle ??= openSync(path, "r");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      const size = readSync(handle, buffer, 0, buffer.length, null);
      return size === 0 ? undefined : Buffer.from(buffer.subarray(0, size));
    },
    close() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

/** Whole lines, made safe; a line without an end is cut so that it cannot grow for ever. */
function createLineWriter({ line: print, end, most = LINE_LIMIT }: LineTaker): {
  readonly write: (bytes: Buffer) => void;
  readonly end: () => void;
} {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return {
    write(bytes) {
      const lines = `${rest}${decoder.write(bytes)}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) print(line);
      if (rest.length > most) {
        print(rest);
        rest = "";
      }
    },
    end() {
      rest += decoder.end();
      if (rest !== "") print(rest);
      end();
    },
  };
}

type LineTaker = StoryWriter & { readonly most?: number };

function rawLines(io: Io, attempt: string): LineTaker {
  const line = (text: string): void => {
    if (io.json) io.out(JSON.stringify({ attempt, line: text }));
    else io.out(plainText(text, io.tty && io.color));
  };
  return { line, end: () => {} };
}

/** Programs that only print have no conversation. */
function nothingThere(attempt: string, isStory: boolean): string {
  if (!isStory) return `${attempt} has no output yet.`;
  return `${attempt} has no record of a conversation: its agent has not begun, or its program only prints. Without --story you see what it printed.`;
}

async function isUnderWay(store: Store, runId: string, stage: string, attempt: number): Promise<boolean> {
  const record = (await store.attempts(runId)).find((each) => each.stage === stage && each.attempt === attempt);
  return record?.status === "running" || record?.status === "ready";
}

async function hasEnded(store: Store, runId: string): Promise<boolean> {
  const stored = await store.loadRun(runId);
  return stored === undefined || isEnded(stored.run);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
