// Keeps ticket files and their runs equal: adopts the runs that have a file and gives a file its turn after every change of either.
// core/ticket/mirror-step.ts decides the effects of a change. A file that cannot be written never stops a run.

import type { Actor, RunEvent } from "../../core/run/event.ts";
import { lateText } from "../../core/run/outward.ts";
import { isEnded, type Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import { isAsKnown, type MirroredRun, mirrorStep, newMirrorEntry } from "../../core/ticket/mirror-step.ts";
import type { TicketScan } from "../../core/ticket/ticket.ts";
import type { Store } from "../../store/store.ts";
import type { TicketFolder } from "../file/folder.ts";
import { createEndings } from "./endings.ts";
import { createFolderWatch } from "./folder-watch.ts";
import { lazyMirrorLog } from "./mirror-log.ts";
import { statusText } from "./perform-act.ts";
import { type RunTicket, subjectOf, ticketOfRun } from "./run-ticket.ts";
import { advance, inTurn, type Mirrored, perform, takeTurn, type FileTurns } from "./file-turns.ts";

export type MirrorOptions = {
  readonly store: Store;
  readonly deliver: (runId: string, body: SignalBody, actor: Actor, signalId?: string) => Promise<unknown>;
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** The log of the last write to each file. */
  readonly logFile: string;
  readonly onProblem: (runId: string | null, error: unknown) => void;
};

export type Mirror = {
  /** The engine calls it after every stored change of a run. */
  onChange(run: Run, events: readonly RunEvent[]): void;
  /** The engine calls it for runs that other processes changed. */
  onElsewhere(run: Run): void;
  /** The engine waits for it before an attempt works: resolves when the file shows the status of the run. */
  beforeWork(run: Run): Promise<void>;
  /**
   * The engine waits for it before each act outside: a status that a person wrote wins, as if no attempt worked. Returns why the act must
   * wait, or undefined.
   */
  beforeOutward(run: Run): Promise<string | undefined>;
  /** The engine calls it when the acts of a run are known: the file of a canceled run says that its work landed nevertheless. */
  afterOutward(run: Run): Promise<void>;
  /** Adopts the runs of an earlier process. Called once, before the engine performs. */
  start(): Promise<void>;
  folder(project: string): Promise<TicketFolder>;
  /** Reads the folder now. */
  look(project: string): Promise<TicketScan>;
  /** Calls `onChange` when the folder or the work on a ticket has changed, until the returned function is called. */
  listen(project: string, onChange: () => void): () => void;
  /** Runs of this project's tickets by the ticket's id: those that have not ended, and those whose file does not show it yet. */
  goingOn(project: string): ReadonlyMap<string, Run>;
  /** The value of `endings` after this ticket's last run ended. A scan that began earlier may show the ticket as it was during the run. */
  ended(project: string, id: string): number;
  /** Grows whenever a run has ended. */
  readonly endings: number;
  /** Resolves when all changes so far are written. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export function createMirror(options: MirrorOptions): Mirror {
  const folders = createFolderWatch({
    folderOf: options.folderOf,
    onScan: (project, scan) => review(turns, project, scan),
    onProblem: (error) => options.onProblem(null, error),
  });
  const turns: FileTurns = {
    ...options,
    folders,
    known: new Map(),
    endings: createEndings(),
    closing: new AbortController(),
    log: lazyMirrorLog(options.logFile),
  };
  const { closing, endings, known, log } = turns;
  const settled = async (): Promise<void> => {
    await Promise.all([...known.values()].map(({ chain }) => chain));
  };

  return {
    onChange(run, events) {
      const endsNow = events.some(({ type }) => type === "run.completed" || type === "run.canceled");
      const words = events.flatMap((event) => (event.type === "status.changed" ? [event.to] : []));
      runChanged(turns, run, words, endsNow);
    },
    onElsewhere: (run) => runChanged(turns, run, [run.word], false),
    async beforeWork(run) {
      const own = known.get(run.id);
      if (own !== undefined) await inTurn(turns, own, () => takeTurn(turns, own, true));
    },
    beforeOutward: (run) => beforeOutward(turns, run),
    afterOutward: (run) => noteLate(turns, run),
    start: () => start(turns),
    folder: (project) => folders.folder(project),
    look: (project) => folders.look(project),
    listen(project, onChange) {
      const unlisten = folders.listen(project, onChange);
      folders.watch(project);
      return unlisten;
    },
    goingOn: (project) => new Map(ofProject(turns, project).map(({ ticket, run }) => [ticket.id, run])),
    ended: (project, id) => endings.of(project, id),
    get endings() {
      return endings.count;
    },
    settled,
    async close() {
      await settled();
      closing.abort();
      folders.close();
      log.close();
    },
  };
}

async function start(turns: FileTurns): Promise<void> {
  const { known, log, store } = turns;
  for (const runId of new Set([...log.notes.keys(), ...(await store.activeRuns())])) {
    const run = (await store.loadRun(runId))?.run;
    const note = log.notes.get(runId);
    if (run === undefined) {
      log.forget(runId);
      continue;
    }
    const ticket = ticketOfRun(run);
    if (ticket === undefined || (isEnded(run) && note === undefined)) continue;
    const own = known.get(runId) ?? adopt(turns, run, ticket);
    if (note !== undefined && "letGo" in note)
      await advance(turns, own, { type: "release-noted", word: note.letGo }, false);
    else runChanged(turns, run, [run.word], false);
  }
}

function runChanged(turns: FileTurns, run: Run, words: readonly string[], endsNow: boolean): void {
  const own = turns.known.get(run.id) ?? adoptChanged(turns, run, endsNow);
  if (own === undefined) return;
  own.run = run;
  own.entry = mirrorStep(own.entry, { type: "run-changed", run: mirrored(run), words }).entry;
  void inTurn(turns, own, () => takeTurn(turns, own, false));
}

/** A run that has ended, and is neither known nor noted, was released: its file belongs to the person. */
function adoptChanged(turns: FileTurns, run: Run, endsNow: boolean): Mirrored | undefined {
  const ticket = ticketOfRun(run);
  if (ticket === undefined) return undefined;
  return isEnded(run) && !endsNow && noteOf(turns, run.id) === undefined ? undefined : adopt(turns, run, ticket);
}

function adopt(turns: FileTurns, run: Run, ticket: RunTicket): Mirrored {
  const { id, path, status } = ticket;
  const entry = newMirrorEntry(mirrored(run), { ticket: id, path, status }, noteOf(turns, run.id));
  const own: Mirrored = { ticket, run, entry, chain: Promise.resolve() };
  turns.known.set(run.id, own);
  turns.folders.watch(ticket.project);
  return own;
}

function noteOf({ log }: FileTurns, runId: string) {
  const note = log.notes.get(runId);
  return note !== undefined && "word" in note ? note : undefined;
}

/** After each scan: files of runs that a person may have changed. */
function review(turns: FileTurns, project: string, { tickets, problems }: TicketScan): void {
  const own = ofProject(turns, project).filter(({ run }) => !isEnded(run));
  if (own.length === 0) return;
  const byId = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const broken = new Set(problems.filter(({ severity }) => severity === "refused").map(({ path }) => path));
  for (const each of own) {
    const { entry } = each;
    const ticket = byId.get(each.ticket.id);
    const isSame = ticket?.path === entry.path && isAsKnown(entry, ticket.status);
    // In its turn, because a scan from before the last write looks like a person's edit.
    if (!isSame && !broken.has(entry.path)) void inTurn(turns, each, () => recheck(turns, each));
    if (ticket === undefined) continue;
    const { title, body } = subjectOf(ticket);
    advance(turns, each, { type: "text-found", title, body }, false).catch((error: unknown) =>
      turns.onProblem(each.run.id, error),
    );
  }
}

async function beforeOutward(turns: FileTurns, { id }: Run): Promise<string | undefined> {
  const own = turns.known.get(id);
  if (own === undefined) return undefined;
  let held: string | undefined;
  await inTurn(turns, own, async () => {
    if (own.entry.state.status === "released" || isEnded(own.run)) return;
    const folder = await turns.folders.folder(own.ticket.project);
    if (own.entry.state.status !== "conflict" && isAsKnown(own.entry, await statusText(folder, own.entry.path))) return;
    const seen = await perform(turns, own, { type: "look" }, true);
    if (seen?.type === "file-broken") held = `${own.entry.path} cannot be read: ${seen.message}`;
    else if (seen !== undefined) await advance(turns, own, seen, true);
  });
  return held;
}

/** The person may have taken the file over by now: its status stays as it is. */
async function noteLate(turns: FileTurns, run: Run): Promise<void> {
  const text = lateText(run);
  const ticket = ticketOfRun(run);
  if (text === undefined || ticket === undefined) return;
  const note = async (): Promise<void> => {
    const folder = await turns.folders.folder(ticket.project);
    const noted = await folder.update({ path: ticket.path }, { last_error: text });
    if (!noted.ok && noted.error.code !== "ticket_file_missing") throw new Error(noted.error.message);
  };
  const own = turns.known.get(run.id);
  if (own === undefined) return note();
  await own.chain;
  return note();
}

async function recheck(turns: FileTurns, own: Mirrored): Promise<void> {
  if (turns.closing.signal.aborted || own.entry.state.status === "released" || isEnded(own.run)) return;
  const folder = await turns.folders.folder(own.ticket.project);
  // Most often it was the mirror's own write; one file is read faster than the folder.
  if (isAsKnown(own.entry, await statusText(folder, own.entry.path))) return;
  const seen = await perform(turns, own, { type: "look" }, false);
  if (seen !== undefined) await advance(turns, own, seen, false);
  await takeTurn(turns, own, false);
}

function ofProject({ known }: FileTurns, project: string): readonly Mirrored[] {
  return [...known.values()].filter(({ ticket }) => ticket.project === project);
}

function mirrored(run: Run): MirroredRun {
  return { word: run.word, isEnded: isEnded(run), title: run.subject.title, body: run.subject.body };
}
