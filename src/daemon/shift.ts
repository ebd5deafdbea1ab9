// Ends a shift: when its time or its money is used up, it pauses everything, lets running attempts finish, and sends the report. Each step is
// stored before the next one, and each can be repeated: a daemon that starts after the end finishes what the last one left.

import { randomUUID } from "node:crypto";
import type { UseCases } from "../app/use-cases.ts";
import { ok, type Result } from "../core/result.ts";
import { overBecause, type Shift, shiftAtStart, shiftText, type ShiftWish } from "../core/budget/shift.ts";
import type { Actor } from "../core/run/event.ts";
import { runningAttempts } from "../core/run/startable.ts";
import { spentSince } from "../app/spent-since.ts";
import type { NightReport } from "../core/view/night-report.ts";
import { nightReportText } from "../core/view/night-report-text.ts";
import type { EngineListener } from "../engine/listeners.ts";
import type { Notifier } from "../notify/notify.ts";
import type { Store } from "../store/store.ts";
import { createPoll } from "../ticket/poll.ts";
import { readShift, writeShift } from "./shift-file.ts";

export type ShiftOptions = {
  readonly home: string;
  readonly wish: ShiftWish | null;
  /** Who typed the wish: the engine resumes runs for people only. */
  readonly person: Actor;
  readonly app: Pick<UseCases, "controlAll" | "lookAtPause">;
  readonly store: Pick<Store, "activeRuns" | "loadRun" | "spending">;
  readonly now: () => string;
  /** Undefined if the settings name no channel. */
  readonly notifier: Notifier | undefined;
  readonly report: (since: string) => Promise<NightReport>;
  readonly log: (line: string) => void;
  readonly onError: (error: unknown) => void;
};

export type ShiftWatch = Required<Pick<EngineListener, "onChange">> & {
  /** One look; the timer and changes cause it, too. */
  look(): Promise<void>;
  close(): Promise<void>;
};

const PAUSE_MS = 5000;
const SOONEST_MS = 50;
/** The report waits this long for attempts that still run. */
const PATIENCE_MS = 30 * 60_000;
const OWNER = "owner";

/** Reads, changes or begins the shift, and ends one whose time has passed already. Call it before the engine performs. */
export async function openShift(options: ShiftOptions): Promise<Result<ShiftWatch>> {
  const { home, log, now, onError, wish } = options;
  const stored = wish?.until === null && wish.usd === undefined ? ok(null) : readShift(home);
  if (!stored.ok) return stored;
  const before = stored.value;
  let shift = shiftAtStart(before, wish, { now: now(), newId: randomUUID() });
  if (wish !== null && shift !== before) {
    writeShift(home, shift);
    await liftPause(options);
  }
  const look = async (): Promise<void> => {
    shift = await shiftAfterLook(shift, options);
  };
  await look();
  if (shift !== null)
    log(`shift since ${shift.startedAt}: ${shiftText(shift, await spentSince(options.store, shift.startedAt))}`);
  const poll = createPoll({ task: look, pauseMs: () => waitMs(shift, now()), onError });
  poll.start(waitMs(shift, now()));
  return ok({
    look: () => poll.now(),
    onChange(_run, events) {
      const isMoney = events.some(({ type }) => type === "stage.started" || type === "usage.recorded");
      if (isMoney && shift !== null && shift.usd !== null && shift.ended === null) void poll.now();
    },
    close: () => poll.stop(),
  });
}

function waitMs(shift: Shift | null, now: string): number {
  if (shift === null || shift.until === null || shift.ended !== null) return PAUSE_MS;
  return Math.max(SOONEST_MS, Math.min(PAUSE_MS, Date.parse(shift.until) - Date.parse(now)));
}

/** The end of the last shift paused everything; a person's pause stays. */
async function liftPause({ app, log, person }: ShiftOptions): Promise<void> {
  if ((await app.lookAtPause())?.by !== "system") return;
  const { changed } = await app.controlAll({ type: "resume", pausedBy: "system" }, { actor: person });
  log(`a new shift: ${changed.length} runs that the last one paused continue`);
}

async function shiftAfterLook(shift: Shift | null, options: ShiftOptions): Promise<Shift | null> {
  if (shift === null || (shift.ended !== null && shift.isReported)) return shift;
  const { app, home, log, now, store } = options;
  if (shift.ended === null) {
    const spent = shift.usd === null ? 0 : await spentSince(store, shift.startedAt);
    const because = overBecause(shift, now(), spent);
    if (because === null) return shift;
    await app.controlAll({ type: "pause", reason: because }, { actor: "system" });
    const over = { ...shift, ended: { at: now(), because } };
    writeShift(home, over);
    log(`${because}: no attempt starts any more, running ones finish. passrail runs resume --all   continues`);
    return shiftAfterLook(over, options);
  }
  const isLate = Date.parse(now()) - Date.parse(shift.ended.at) > PATIENCE_MS;
  if (!isLate && (await isWorking(store))) return shift;
  await sendReport(shift, options);
  const done = { ...shift, isReported: true };
  writeShift(home, done);
  return done;
}

async function isWorking(store: ShiftOptions["store"]): Promise<boolean> {
  for (const id of await store.activeRuns()) {
    const run = (await store.loadRun(id))?.run;
    if (run !== undefined && runningAttempts(run).length > 0) return true;
  }
  return false;
}

async function sendReport({ id, startedAt, ended }: Shift, { log, notifier, report }: ShiftOptions): Promise<void> {
  const text = nightReportText(await report(startedAt), ended?.because ?? "");
  log(`report:\n${text}`);
  await notifier?.notify({ runId: "", to: OWNER, event: "report", text, item: null, key: id });
}
