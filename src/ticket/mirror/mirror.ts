// The ticket's file and its run, kept equal. The run's status word goes into the file, in order and before anything works; a person's
// edit of the file goes to the run. Neither overwrites the other: while an attempt works a person's status is only noted, and as soon as
// nothing works it is acted on. A file that cannot be written never stops a run.

import type { Actor, RunEvent } from "../../core/run/event.ts";
import type { Problem } from "../../core/result.ts";
import { isEnded, type Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import type { Ticket, TicketScan } from "../../core/ticket/ticket.ts";
import type { Store } from "../../store/store.ts";
import type { TicketChanges, TicketFolder } from "../file/folder.ts";
import { statusIn } from "../file/keys-in.ts";
import { type MirrorLog, openMirrorLog } from "./mirror-log.ts";
import { placeOf, subjectOf, type TicketPlace, worksNow } from "./place.ts";
import { shownKeys } from "./shown.ts";
import { createWatched } from "./watched.ts";

export type MirrorOptions = {
  readonly store: Store;
  readonly deliver: (runId: string, body: SignalBody, actor: Actor, signalId?: string) => Promise<unknown>;
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** Where what was written is remembered. */
  readonly logFile: string;
  readonly onProblem: (runId: string | null, error: unknown) => void;
};

export type Mirror = {
  /** For the engine: every change of a run, after it is stored. */
  onChange(run: Run, events: readonly RunEvent[]): void;
  /** For the engine: what other processes changed. */
  onElsewhere(run: Run): void;
  /** For the engine: resolves when the file says what the run says. */
  beforeWork(run: Run): Promise<void>;
  /** Takes up the runs that a process before us left; to be called once, before anything is performed. */
  start(): Promise<void>;
  folder(project: string): Promise<TicketFolder>;
  /** Reads the folder now. */
  look(project: string): Promise<TicketScan>;
  /** Told when the folder has changed or the work on a ticket, its file included, until the returned function is called. */
  listen(project: string, onChange: () => void): () => void;
  /** Runs of this project's tickets that go on, by the ticket's id; also those that have ended and whose file does not say so yet. */
  goingOn(project: string): ReadonlyMap<string, Run>;
  /** Grows whenever a run is over. A reading of the folder from before that may show the ticket as it was during the run. */
  ended(project: string, id: string): number;
  readonly endings: number;
  /** Resolves when everything so far is written. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

type Entry = {
  place: TicketPlace;
  run: Run;
  /** Words that the file has not shown yet, in order. */
  readonly pending: string[];
  /** What the file says as far as we know; after a crash it may be the older one still. */
  written: string;
  older: string | null;
  /** Other keys as they were last written. */
  keys: string;
  /** The person's word that was found while an attempt worked. */
  conflict: string | null;
  isMissing: boolean;
  isLetGo: boolean;
  /** The last edit that the run was told of, and the last trouble that people were. */
  told: string;
  trouble: string;
  chain: Promise<void>;
};

const FILE: Actor = "human:file";
const AGAIN_MS = 5000;
/** How often a write is begun anew because the file changed under our hands. */
const TRIES = 5;

export function createMirror(options: MirrorOptions): Mirror {
  const { store, deliver, onProblem } = options;
  const entries = new Map<string, Entry>();
  const listeners = new Map<string, Set<() => void>>();
  const endings = new Map<string, number>();
  let endingCount = 0;
  const watched = createWatched({
    folderOf: options.folderOf,
    onChange(project) {
      tell(project);
      // Who listens may look too; looks that are asked for in one moment are one.
      watched.look(project).catch((error: unknown) => onProblem(null, error));
    },
    onScan: review,
    onProblem: (error) => onProblem(null, error),
  });
  let opened: MirrorLog | undefined;
  let isClosed = false;
  const timers = new Set<NodeJS.Timeout>();
  /** Most stores have no tickets, and then there is no such file. */
  const log = (): MirrorLog => (opened ??= openMirrorLog(options.logFile));

  return {
    onChange(run, events) {
      const endsNow = events.some(({ type }) => type === "run.completed" || type === "run.canceled");
      const entry = entryOf(run, endsNow);
      if (entry === undefined) return;
      entry.run = run;
      for (const event of events) if (event.type === "status.changed") entry.pending.push(event.to);
      void schedule(entry);
    },
    onElsewhere(run) {
      const entry = entryOf(run);
      if (entry === undefined) return;
      entry.run = run;
      entry.pending.push(run.word);
      void schedule(entry);
    },
    async beforeWork(run) {
      const entry = entries.get(run.id);
      if (entry === undefined) return;
      await schedule(entry, true);
    },
    start,
    folder: (project) => watched.folder(project),
    look: (project) => watched.look(project),
    listen(project, onChange) {
      const known = listeners.get(project) ?? new Set();
      listeners.set(project, known.add(onChange));
      watched.watch(project);
      return () => void known.delete(onChange);
    },
    goingOn(project) {
      const own = [...entries.values()].filter(({ place }) => place.project === project);
      return new Map(own.map(({ place, run }) => [place.id, run]));
    },
    ended: (project, id) => endings.get(`${project}\0${id}`) ?? 0,
    get endings() {
      return endingCount;
    },
    async settled() {
      await Promise.all([...entries.values()].map(({ chain }) => chain));
    },
    async close() {
      await Promise.all([...entries.values()].map(({ chain }) => chain));
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      watched.close();
      opened?.close();
    },
  };

  async function start(): Promise<void> {
    const { notes } = log();
    for (const runId of new Set([...notes.keys(), ...(await store.activeRuns())])) {
      const run = (await store.loadRun(runId))?.run;
      const note = notes.get(runId);
      if (run === undefined) {
        log().forget(runId);
        continue;
      }
      const place = placeOf(run);
      if (place === undefined || (isEnded(run) && note === undefined)) continue;
      const entry = entries.get(runId) ?? create(run, place);
      if (note !== undefined && "letGo" in note) await letGo(entry, note.letGo);
      else {
        entry.pending.push(run.word);
        void schedule(entry);
      }
    }
  }

  /** A run that is over, and was not known here nor noted, has been let go: its file is not ours any more. */
  function entryOf(run: Run, endsNow = false): Entry | undefined {
    const known = entries.get(run.id);
    if (known !== undefined) return known;
    const place = placeOf(run);
    if (place === undefined) return undefined;
    if (isEnded(run) && !endsNow && !isNoted(run.id)) return undefined;
    return create(run, place);
  }

  function isNoted(runId: string): boolean {
    const note = log().notes.get(runId);
    return note !== undefined && "word" in note;
  }

  function create(run: Run, place: TicketPlace): Entry {
    const note = log().notes.get(run.id);
    const fresh: Entry = {
      place,
      run,
      pending: [],
      written: note !== undefined && "word" in note ? note.word : place.status,
      older: note !== undefined && "word" in note ? note.before : null,
      keys: "",
      conflict: null,
      isMissing: false,
      isLetGo: false,
      told: "",
      trouble: "",
      chain: Promise.resolve(),
    };
    entries.set(run.id, fresh);
    watched.watch(place.project);
    return fresh;
  }

  /** One thing at a time per file. `isStarting`: the attempt that the run says is running has not begun to work. */
  function schedule(entry: Entry, isStarting = false): Promise<void> {
    entry.chain = entry.chain
      .then(() => bringUp(entry, isStarting))
      .catch((error: unknown) => onProblem(entry.run.id, error));
    return entry.chain;
  }

  async function bringUp(entry: Entry, isStarting: boolean): Promise<void> {
    if (isClosed) return;
    if (entry.conflict !== null && !entry.isLetGo) await inspect(entry, isStarting);
    while (entry.pending.length > 0 && entry.conflict === null && !entry.isLetGo) {
      const word = entry.pending[0] ?? "";
      if (!(await write(entry, word, isStarting))) break;
      entry.pending.shift();
    }
    if (isEnded(entry.run) && (entry.pending.length === 0 || entry.isLetGo || entry.isMissing)) remove(entry);
    if (!worksNow(entry.run)) tell(entry.place.project);
  }

  function remove({ run, place }: Entry): void {
    if (!entries.delete(run.id)) return;
    endings.set(`${place.project}\0${place.id}`, ++endingCount);
    log().forget(run.id);
  }

  function tell(project: string): void {
    for (const listener of listeners.get(project) ?? []) listener();
  }

  /** False where the file is not ours to write now. */
  async function write(entry: Entry, word: string, isStarting: boolean): Promise<boolean> {
    const { run } = entry;
    const isLast = entry.pending.length === 1;
    const changes: TicketChanges = isLast ? { ...(await shownKeys(store, run)), status: word } : { status: word };
    const { status: _status, ...others } = changes;
    const keys = JSON.stringify(others);
    if (word === entry.written && entry.older === null && (!isLast || keys === entry.keys)) return true;
    log().write({ run: run.id, before: entry.written, word });
    for (let tries = 0; tries < TRIES; tries++) {
      const folder = await watched.folder(entry.place.project);
      const result = await folder.update(entry.place, changes, { status: entry.written });
      if (result.ok) {
        [entry.written, entry.older, entry.isMissing, entry.trouble] = [word, null, false, ""];
        if (isLast) entry.keys = keys;
        return true;
      }
      if (result.error.code !== "ticket_conflict" && result.error.code !== "ticket_file_missing") {
        tryLater(entry, result.error);
        return false;
      }
      await inspect(entry, isStarting);
      if (entry.conflict !== null || entry.isLetGo || entry.isMissing) return false;
    }
    tryLater(entry, { code: "ticket_conflict", message: `${entry.place.path} changes too fast to be written` });
    return false;
  }

  /** Looks at the file itself: it lags behind us, a person has edited it, it moved, or it is gone. */
  async function inspect(entry: Entry, isStarting: boolean): Promise<void> {
    const { place } = entry;
    const { tickets, problems } = await (await watched.folder(place.project)).scan();
    const ticket = find(tickets, place);
    if (ticket === undefined) {
      const broken = problems.find(({ path }) => path === place.path);
      if (broken !== undefined) return tryLater(entry, broken);
      if (!entry.isMissing)
        await warn(entry, "ticket_file_missing", `${place.path} is gone; the run goes on without it`);
      entry.isMissing = true;
      return;
    }
    entry.isMissing = false;
    if (ticket.path !== place.path) {
      await warn(entry, "ticket_file_missing", `${place.path} is gone; ${ticket.path} has ${place.id} now and is used`);
      entry.place = { ...place, path: ticket.path };
    }
    const { status } = ticket;
    if (status === entry.written || status === entry.older || status === entry.run.word) {
      [entry.written, entry.older] = [await wordOf(entry, status), null];
      if (entry.conflict === null) return;
      entry.conflict = null;
      // What stands beside the status is written anew.
      entry.keys = "";
      entry.pending.push(entry.run.word);
      return;
    }
    await obey(entry, status, isStarting);
  }

  /** As it stands there: a setting may let another word count as Backlog. */
  async function wordOf({ place }: Entry, status: string): Promise<string> {
    const text = await (await watched.folder(place.project)).text(place);
    return (text.ok ? statusIn(text.value) : "") || status;
  }

  /** A person has given the ticket another status. */
  async function obey(entry: Entry, status: string, isStarting: boolean): Promise<void> {
    const { run, place } = entry;
    if (status !== "Canceled" && worksNow(run) && !isStarting) {
      if (entry.conflict === status) return;
      entry.conflict = status;
      const message = `${place.path} says ${status}, and the run is at ${run.word}: acted on when this attempt has ended`;
      await warn(entry, "ticket_conflict", message, `ticket-conflict:${status}:${run.word}`);
      const conflict = `the run is at ${run.word}; ${status} is acted on when its attempt has ended`;
      const noted = await (await watched.folder(place.project)).update(place, { conflict }, { status });
      if (!noted.ok) onProblem(run.id, new Error(noted.error.message));
      return;
    }
    log().write({ run: run.id, letGo: status });
    await letGo(entry, status);
  }

  /** The file's word stands; the run ends, and whoever picks tickets goes on from the file. */
  async function letGo(entry: Entry, status: string): Promise<void> {
    entry.isLetGo = true;
    entry.conflict = null;
    entry.pending.length = 0;
    const { run, place } = entry;
    if (!isEnded(run)) {
      const reason = status === "Canceled" ? "canceled in its file" : `its file was set to ${status}`;
      await deliver(run.id, { type: "cancel.requested", reason }, FILE, "let-go");
    }
    const folder = await watched.folder(place.project);
    const cleaned = await folder.update(place, { conflict: null, last_error: null });
    if (!cleaned.ok && cleaned.error.code !== "ticket_file_missing")
      onProblem(run.id, new Error(cleaned.error.message));
    remove(entry);
  }

  /** What people have changed in files whose runs go on. */
  function review(project: string, { tickets, problems }: TicketScan): void {
    const own = [...entries.values()].filter((entry) => entry.place.project === project && !isEnded(entry.run));
    if (own.length === 0) return;
    const byId = new Map(tickets.map((ticket) => [ticket.id, ticket]));
    const broken = new Set(problems.filter(({ severity }) => severity === "refused").map(({ path }) => path));
    for (const entry of own) {
      const ticket = byId.get(entry.place.id);
      const isSame = ticket?.path === entry.place.path && ticket.status === (entry.conflict ?? entry.written);
      if (!isSame && !broken.has(entry.place.path)) void recheck(entry);
      if (ticket !== undefined) retell(entry, ticket);
    }
  }

  /** In its turn, because a reading from before our last write looks like somebody's edit. */
  function recheck(entry: Entry): Promise<void> {
    entry.chain = entry.chain
      .then(async () => {
        if (isClosed || entry.isLetGo || isEnded(entry.run)) return;
        // Most often it was our own write; one file is read faster than the folder.
        const word = await wordOf(entry, "");
        if (!entry.isMissing && word === (entry.conflict ?? entry.written)) return;
        await inspect(entry, false);
        await bringUp(entry, false);
      })
      .catch((error: unknown) => onProblem(entry.run.id, error));
    return entry.chain;
  }

  function retell(entry: Entry, ticket: Ticket): void {
    const { run } = entry;
    const { title, body } = subjectOf(ticket);
    if (title === run.subject.title && body === run.subject.body) return;
    // One that was refused is not told again and again.
    const told = JSON.stringify([title, body]);
    if (told === entry.told) return;
    entry.told = told;
    deliver(run.id, { type: "ticket.edited", title, body }, FILE).catch((error: unknown) => onProblem(run.id, error));
  }

  async function warn(entry: Entry, code: string, message: string, signalId?: string): Promise<void> {
    if (isEnded(entry.run)) return;
    await deliver(entry.run.id, { type: "warning.noticed", code, message }, "engine", signalId);
  }

  function tryLater(entry: Entry, { message }: Problem): void {
    if (message !== entry.trouble) onProblem(entry.run.id, new Error(message));
    entry.trouble = message;
    if (isClosed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void schedule(entry);
    }, AGAIN_MS);
    timer.unref();
    timers.add(timer);
  }
}

function find(tickets: readonly Ticket[], place: TicketPlace): Ticket | undefined {
  const own = tickets.filter(({ id }) => id === place.id);
  return own.find(({ path }) => path === place.path) ?? own[0];
}
