// A run in words: the reason for its state, its open items with the commands that answer them, its counters and its stages. Builds the
// data for `runs show`, the inbox and the live view; prints nothing.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { isPlayedOutside } from "../../core/flow/runner-choice.ts";
import { causeText } from "../../core/run/postponement.ts";
import { overLimit } from "../../core/view/over-limit.ts";
import { withLate } from "../../core/run/outward.ts";
import { type InboxItem, openItems, type Run, takenOver, type Track } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import { itemFindings } from "../../core/view/findings.ts";
import { answersTo } from "../../core/view/item-text.ts";
import { takenText } from "../../core/view/taken-over.ts";

/** The reason for the state, in one sentence. The flow is needed to see whether a stage waits for a slot or for an agent outside. */
export function whyOf(run: Run, resolved?: ResolvedFlow): string {
  switch (run.status) {
    case "running":
      return takenText(run) ?? (run.paused ? "paused by a person" : workingOf(run, resolved));
    case "waiting":
      return openItems(run)
        .map((item) => `${item.kind} ${item.stage} waits for ${item.who}`)
        .join("; ");
    case "stopped":
      return run.reason;
    case "completed":
      return "";
    case "canceled":
      return withLate(`${run.reason} (by ${run.by.replace(/^human:/u, "")})`, run);
  }
}

function workingOf(run: Run, resolved: ResolvedFlow | undefined): string {
  const parts = Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at === "running" && track.outside === true) return [`${track.stage} is with an agent outside`];
    if (track.at === "running") return [`${track.stage} attempt ${track.attempt} is on record as running`];
    if (track.at !== "ready") return [];
    const work = resolved === undefined ? undefined : findWork(resolved.flow, run, name, track.stage);
    if (resolved !== undefined && work !== undefined && isPlayedOutside(resolved, run.facts, work))
      return [`${track.stage} waits for an agent outside to take it (${work.shownAgent})`];
    const later = resumesOf(track);
    return [`${track.stage} attempt ${track.attempt} ${later === "" ? "is ready to start" : later}`];
  });
  return parts.join("; ");
}

/** `resumes 14:05 (rate limit)` while a stage waits for its time, else nothing. */
export function resumesOf(track: Track, now: number = Date.now()): string {
  if (track.at !== "ready" || track.notBefore === undefined || Date.parse(track.notBefore) <= now) return "";
  const { because, runner } = track;
  const cause = because === undefined ? "" : runner === undefined ? causeText(because) : overLimit(runner, because);
  const why = cause === "" ? "" : ` (${cause})`;
  return `resumes ${localTime(track.notBefore, now)}${why}`;
}

/** The first stage of a run that resumes later without a person. */
export function firstToResume(run: Run): string {
  if (run.status !== "running" || run.paused) return "";
  const tracks = Object.values(run.tracks).toSorted((a, b) => notBeforeOf(a).localeCompare(notBeforeOf(b)));
  return tracks.map((track) => resumesOf(track)).find((text) => text !== "") ?? "";
}

function notBeforeOf(track: Track): string {
  return track.at === "ready" ? (track.notBefore ?? "") : "";
}

/** By the reader's own clock; with the day where it is not today, with seconds where it is a matter of those. */
export function localTime(at: string, now: number = Date.now()): string {
  const time = new Date(at);
  const [date, clock] = [localDay(time), time.toTimeString().slice(0, time.getTime() - now < 120_000 ? 8 : 5)];
  return date === localDay(new Date(now)) ? clock : `${date} ${clock}`;
}

function localDay(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** The run waits for a person. */
export function isSettled(run: Run): boolean {
  return run.status !== "running" || run.paused || takenOver(run) !== undefined;
}

export function itemJson(runId: string, number: number, item: InboxItem, run?: Run): Record<string, unknown> {
  return {
    id: `${runId}.${item.number}`,
    run: runId,
    runNumber: number,
    ...item,
    ...(run === undefined ? {} : { findings: itemFindings(run, item) }),
    commands: answersTo(item, `${number}.${item.number}`),
  };
}
