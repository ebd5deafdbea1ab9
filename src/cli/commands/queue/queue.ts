// `queue`: the runs that work and those that wait, per project and in order. Reads the store only.

import { listQueue, type ProjectQueue, type QueueEntry } from "../../../app/list-queue.ts";
import { listProjects } from "../../../app/projects.ts";
import { EXIT } from "../../errors.ts";
import { withReader } from "../../reader.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";

type NamedQueue = ProjectQueue & { readonly name: string | null };

export async function queue(io: Io): Promise<number> {
  const { workers } = await shownSettings(io);
  const found = await withReader(io, async (store) =>
    store === undefined ? [] : listQueue(store, new Date().toISOString(), { workers }),
  );
  const known = listProjects(io.home);
  const names = new Map((known.ok ? known.value : []).map(({ name, folder }) => [folder, name]));
  const shown = found
    .filter(({ project }) => io.project === undefined || project === io.cwd)
    .map((each): NamedQueue => ({ ...each, name: names.get(each.project) ?? null }));
  if (io.json) printJson(io, { queue: shown });
  else if (io.quiet) for (const { entries } of shown) for (const { runId } of entries) io.out(runId);
  else if (shown.length === 0) io.err("No run works or waits. Items for you:  passrail inbox");
  else for (const each of shown) printQueue(io, each);
  return EXIT.ok;
}

function printQueue(io: Io, { name, project, entries }: NamedQueue): void {
  if (!io.plain) io.out(oneLine(name === null ? project : `${name}  ${project}`, 400));
  printTable(
    io,
    entries.map((entry) => (io.plain ? plainRow(project, entry) : row(entry)).map((value) => ({ name: "", value }))),
  );
}

function row(entry: QueueEntry): readonly string[] {
  const { position, number, state, stage, agent, since, notBefore, title, why } = entry;
  const when = notBefore === null ? age(since) : `not before ${notBefore}`;
  const who = stage === agent ? stage : `${stage} (${agent})`;
  return [`  ${position ?? " "}`, `#${number}`, state, who, when, title, why ?? ""];
}

function plainRow(project: string, entry: QueueEntry): readonly string[] {
  const { position, runId, number, state, stage, attempt, since, title, why } = entry;
  const place = [project, String(position ?? ""), runId, String(number), state];
  return [...place, stage, String(attempt), since, title, why ?? ""];
}
