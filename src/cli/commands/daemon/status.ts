// `status`: whether a daemon is running, what it does, and what waits.

import { type HeldRunner, listHolds } from "../../../app/holds.ts";
import { lookAtPause } from "../../../app/look-at-pause.ts";
import { readDiskUse } from "../../../app/retention/disk-note.ts";
import { diskText } from "../../../app/retention/measure.ts";
import { spentSince } from "../../../app/spent-since.ts";
import { lookAtMirror, type StatusMirrorState } from "../../../app/status-mirror.ts";
import { type Shift, shiftText } from "../../../core/budget/shift.ts";
import type { PausedAll } from "../../../core/run/pause-all.ts";
import { mirrorText } from "../../../core/view/mirror-text.ts";
import { pauseText } from "../../../core/view/pause-text.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { readShift } from "../../../daemon/shift-file.ts";
import { loadUserSettings } from "../../../settings/load.ts";
import { openForReading } from "../../../store/open-store.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { age, printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { heldText } from "../agent/resume.ts";
import { carriedAttempts, workOn } from "./carried-attempts.ts";

export async function status(io: Io): Promise<number> {
  const note = findDaemon(io.home);
  const { counts, waiting, carried, holds, mirror, paused, shift } = await lookAt(io);
  if (io.json)
    printJson(io, {
      running: note !== undefined,
      home: io.home,
      ...note,
      runs: counts ?? {},
      waiting,
      carried,
      holds,
      mirror,
      paused,
      shift,
      disk: readDiskUse(io.home),
    });
  else if (io.quiet) {
    if (note !== undefined) io.out(note.url);
  } else {
    io.out(
      note === undefined
        ? "No daemon is running."
        : plainText(
            `Passrail is up: ${note.url} (process ${note.pid}, since ${age(note.startedAt)}, version ${note.version})`,
          ),
    );
    if (note?.publicUrl != null) io.out(plainText(`public   ${note.publicUrl}`));
    io.out(plainText(`home     ${io.home}`));
    if (note !== undefined) io.out(plainText(`project  ${note.project}`));
    if (note !== undefined && note.standbyOf !== null)
      io.out(plainText(`standby  ${note.standbyOf} performs on the same database`));
    const runs = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
    io.out(`runs     ${runs.length === 0 ? "none yet" : runs.map(([word, count]) => `${count} ${word}`).join(", ")}`);
    const disk = readDiskUse(io.home);
    if (disk !== null)
      io.out(`disk     ${diskText(disk)}, measured ${age(disk.measuredAt)} ago: passrail prune --dry-run`);
    if (paused !== null)
      io.out(plainText(`paused   ${pauseText(paused)}, since ${age(paused.since)}: passrail runs resume --all`));
    if (shift !== null) io.out(plainText(`shift    ${shiftText(shift, shift.spentUsd)}`));
    for (const hold of holds) io.out(plainText(`held     ${heldText(hold, Date.now())}`));
    if (mirror !== null) io.out(plainText(`mirror   ${mirrorText(mirror, age)}`));
    if (waiting > 0) io.out(`inbox    ${waiting} waiting for you: passrail inbox`);
    if (note === undefined) for (const line of workOn(carried)) io.out(`agents   ${line}`);
    if (note === undefined) io.err("Next: passrail up --detach");
  }
  return note === undefined ? EXIT.unsuccessful : EXIT.ok;
}

/** A daemon that has just started may still be creating its store; `status` reports it anyway. */
async function lookAt(io: Io): Promise<Looked> {
  try {
    const store = await openForReading(io);
    if (store === undefined) return NOTHING_SEEN;
    try {
      const counts = { ...(await store.countRuns()) };
      const holds = await listHolds(store, new Date().toISOString());
      const config = await loadUserSettings({ environment: io.environment, flags: {} });
      const mirror = config.ok ? await lookAtMirror(io.home, config.value, store) : null;
      const paused = await lookAtPause(store);
      const waiting = (await store.inbox()).length;
      const stored = readShift(io.home);
      const shift =
        stored.ok && stored.value !== null
          ? { ...stored.value, spentUsd: await spentSince(store, stored.value.startedAt) }
          : null;
      return { counts, waiting, carried: await carriedAttempts(io), holds, mirror, paused, shift };
    } finally {
      store.close();
    }
  } catch {
    return NOTHING_SEEN;
  }
}

type Looked = {
  readonly counts?: Record<string, number>;
  readonly waiting: number;
  readonly carried: number;
  readonly holds: readonly HeldRunner[];
  readonly mirror: StatusMirrorState | null;
  readonly paused: PausedAll | null;
  readonly shift: (Shift & { readonly spentUsd: number }) | null;
};

const NOTHING_SEEN: Looked = { waiting: 0, carried: 0, holds: [], mirror: null, paused: null, shift: null };
