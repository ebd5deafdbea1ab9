// The last sign of life of a run: its last event, or the latest output of a working agent. An agent that thinks for long changes nothing in
// the run, but its output grows.

import { lstat } from "node:fs/promises";
import type { Run } from "../../core/run/run.ts";
import { attemptFiles } from "../../attempt/attempt-files.ts";

export async function lastActivity(home: string, run: Run, updatedAt: string): Promise<string> {
  const paths = Object.values(run.tracks).flatMap((track) => {
    if (track.at !== "running") return [];
    const { output, events } = attemptFiles(home, run.id, track.stage, track.attempt);
    return [output, events];
  });
  const times = await Promise.all(paths.map(writtenAt));
  return times.reduce((latest, time) => (time > latest ? time : latest), updatedAt);
}

/** Empty if there is no such file. */
async function writtenAt(path: string): Promise<string> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isFile() === true ? stat.mtime.toISOString() : "";
}
