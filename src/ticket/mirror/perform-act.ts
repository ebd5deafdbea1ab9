// Performs the acts of the mirror's pure step on real files and runs. An act that finds something out returns it as the next observation.

import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import type { MirrorAct, MirrorEntry, MirrorSeen } from "../../core/ticket/mirror-step.ts";
import { formatTicketProblem } from "../../core/ticket/plan.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";
import type { Store } from "../../store/store.ts";
import type { TicketFolder } from "../file/folder.ts";
import { statusIn } from "../file/keys-in.ts";
import type { MirrorLog } from "./mirror-log.ts";
import { runKeys } from "./run-keys.ts";
import { worksNow } from "./run-ticket.ts";

/** One run and its file, at the moment of the act. */
export type ActOn = {
  readonly run: Run;
  readonly entry: MirrorEntry;
  readonly folder: TicketFolder;
  /** The attempt that the run says is running has not begun to work. */
  readonly isStarting: boolean;
};

export type ActDeps = {
  readonly store: Store;
  readonly deliver: (runId: string, body: SignalBody, actor: Actor, signalId?: string) => Promise<unknown>;
  readonly log: MirrorLog;
  readonly onProblem: (runId: string, error: unknown) => void;
};

/** `retry-later` and `forget` change which files the mirror knows; the mirror performs them itself. */
export type FileAct = Exclude<MirrorAct, { readonly type: "retry-later" | "forget" }>;

const FILE: Actor = "human:file";

export async function performAct(act: FileAct, on: ActOn, deps: ActDeps): Promise<MirrorSeen | undefined> {
  const { run, entry, folder } = on;
  const { deliver, log, onProblem, store } = deps;
  switch (act.type) {
    case "continue":
      return turnOf(entry, run, store);
    case "look":
      return look(on);
    case "write":
      log.write({ run: run.id, before: act.before, word: act.word });
      return write(act, on);
    case "warn-run": {
      const { code, message } = act;
      await deliver(run.id, { type: "warning.noticed", code, message }, "engine", act.signalId);
      return undefined;
    }
    case "note-conflict": {
      const noted = await folder.update(act, { conflict: act.text }, { status: act.status });
      if (!noted.ok) onProblem(run.id, new Error(noted.error.message));
      return undefined;
    }
    case "note-release":
      log.write({ run: run.id, letGo: act.word });
      return undefined;
    case "cancel-run":
      await deliver(run.id, { type: "cancel.requested", reason: act.reason }, FILE, "let-go");
      return undefined;
    case "edit-run":
      await deliver(run.id, { type: "ticket.edited", title: act.title, body: act.body }, FILE);
      return undefined;
    case "clean-file": {
      const cleaned = await folder.update(entry, { conflict: null, last_error: null });
      if (!cleaned.ok && cleaned.error.code !== "ticket_file_missing")
        onProblem(run.id, new Error(cleaned.error.message));
      return undefined;
    }
    case "report":
      onProblem(run.id, new Error(act.message));
      return undefined;
  }
}

/** The keys beside the status are written with the last of the pending words. */
export async function turnOf({ pending }: MirrorEntry, run: Run, store: Store): Promise<MirrorSeen> {
  return { type: "turn", keys: pending.length === 1 ? await runKeys(store, run) : null };
}

async function write(
  { before, word, keys }: MirrorAct & { readonly type: "write" },
  { entry, folder }: ActOn,
): Promise<MirrorSeen> {
  const result = await folder.update(entry, { ...keys, status: word }, { status: before });
  if (result.ok) return { type: "written", word, keys };
  return { type: "write-failed", code: result.error.code, message: result.error.message };
}

async function look({ entry, folder, run, isStarting }: ActOn): Promise<MirrorSeen> {
  const { tickets, problems } = await folder.scan();
  const found = findTicket(tickets, entry);
  if (found === undefined) {
    const broken = problems.find(({ path }) => path === entry.path);
    return broken === undefined
      ? { type: "file-missing" }
      : { type: "file-broken", message: formatTicketProblem(broken) };
  }
  const { path, status } = found;
  const text = await statusText(folder, path);
  return { type: "file-found", path, status, text, isWorking: worksNow(run) && !isStarting };
}

/** The status as the file spells it; empty if it cannot be read. */
export async function statusText(folder: TicketFolder, path: string): Promise<string> {
  const text = await folder.text({ path });
  return text.ok ? statusIn(text.value) : "";
}

function findTicket(tickets: readonly Ticket[], { ticket, path }: MirrorEntry): Ticket | undefined {
  const own = tickets.filter(({ id }) => id === ticket);
  return own.find((each) => each.path === path) ?? own[0];
}
