// A run from a file of another machine, as the store of this one keeps it: the same history, with a mark behind its first event and an end.
// Nothing in it leads back to the place it came from, counts in the books, or is left to do.

import type { Flow } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import type { Actor, RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import type { ImportMark } from "./import-mark.ts";
import { jointOf } from "./joint.ts";
import { projectOf } from "./run-settings.ts";
import { isEnded, type Run } from "./run.ts";
import { transition } from "./transition.ts";

export type ImportedFrom = Pick<ImportMark, "exportedBy" | "exportedAt" | "head"> & {
  readonly flow: Flow;
  /** The folder of this machine with the run's own repository. */
  readonly project: string;
  readonly at: string;
  readonly actor: Actor;
};

export type ImportedRun = { readonly run: Run; readonly events: readonly RunEvent[] };

/** The events of a file by an unknown author, as those of an ended run. */
export function importedRun(written: readonly RunEvent[], from: ImportedFrom): Result<ImportedRun> {
  try {
    const there = fold(written);
    if (there === undefined) return err(invalid("it has no events"));
    const [created, ...rest] = written.filter(({ type }) => !LEFT_OUT.has(type));
    if (created?.type !== "run.created" || rest.some(({ type }) => type === "run.created"))
      return err(invalid("its first event is not the one that created the run"));
    const mark = markOf(there, from);
    const { at, actor, project } = from;
    const events: RunEvent[] = [
      { ...created, subject: { ...created.subject, id: subjectHere(there.id) }, facts: factsHere(created, project) },
      { type: "run.imported", ...mark, at: created.at, actor },
      ...rest.map(unbooked),
    ];
    const before = fold(events);
    if (before === undefined) return err(invalid("it has no events"));
    if (!isEnded(before)) {
      const { imported: _mark, ...open } = before;
      const reason = `imported: it was ${there.status} when it was exported`;
      events.push(...transition(from.flow, open, { type: "cancel.requested", id: "import", reason, at, actor }).events);
    }
    const run = fold(events);
    if (run === undefined || !isEnded(run)) return err(invalid("it has no end"));
    if (projectOf(run) !== project || jointOf(run) !== null) return err(invalid("it names a folder of this machine"));
    return ok({ run, events });
  } catch (error) {
    return err(invalid(`its events cannot be read: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Insights leave such runs out by this name (store/insight-fold.ts). */
function subjectHere(runId: string): string {
  return `imported-${runId}`;
}

/** An earlier import's mark, what is booked, and acts outside, which this machine must not follow up. */
const LEFT_OUT: ReadonlySet<string> = new Set<RunEvent["type"]>([
  "run.imported",
  "usage.recorded",
  "outward.intended",
  "outward.seen",
]);

function unbooked(event: RunEvent): RunEvent {
  if (event.type !== "stage.started") return event;
  const { reserved: _reserved, ...started } = event;
  return started;
}

function factsHere({ facts }: Extract<RunEvent, { type: "run.created" }>, project: string): JsonObject {
  const { repositories: _repositories, land: _land, ...own } = facts;
  const { joint: _joint, ...config } = objectOf(own["config"]);
  const { file: _file, project: _project, ...ticket } = objectOf(own["ticket"]);
  return { ...own, config: { ...config, project }, ...(own["ticket"] === undefined ? {} : { ticket }) };
}

function markOf(there: Run, { exportedBy, exportedAt, head }: ImportedFrom): ImportMark {
  const { subject, spent } = there.imported ?? { subject: there.subject.id, spent: there.spent ?? null };
  return { exportedBy, exportedAt, head, subject, was: there.imported?.was ?? there.status, spent };
}

function fold(events: readonly RunEvent[]): Run | undefined {
  let run: Run | undefined;
  for (const event of events) run = evolve(run, event);
  return run;
}

function objectOf(value: unknown): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

const invalid = (why: string) => ({
  code: "import_invalid",
  message: `The file holds no run that can be read: ${why}.`,
});
