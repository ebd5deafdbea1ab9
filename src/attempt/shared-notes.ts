// The shared notes of a flow (`workspace.memory`, 001's `.brain/`) at the start of a run: PROJECT.md tells the task, and what stages of an
// earlier run wrote there is moved aside, so that no agent takes an old plan for this task's. Everything moved is kept.

import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import { lookConfined, makeFolders } from "../file/confined.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { ensureProjectNotes } from "./project-notes.ts";
import { untampered } from "./tampered.ts";

/** Where the notes of earlier runs are kept, below the notes themselves. */
const EARLIER = "earlier";

export async function prepareNotes(job: AttemptJob, ports: AttemptPorts, workspace: Workspace): Promise<void> {
  const { memory } = job.resolved.flow.workspace;
  if (memory === undefined || memory.startsWith("/") || memory.split("/").includes("..")) return;
  // Once per run and before its first agent: from then on, what is there was written for this task. A crash before the note only repeats it.
  const isDone = (await ports.earlierAttempts()).some(({ facts }) => facts["notesReady"] === true);
  if (!isDone) await setEarlierAside(job, workspace.dir, memory);
  ensureProjectNotes(workspace.dir, memory, job.run.subject);
  if (isDone) return;
  await ports.note({ notesReady: true });
}

async function setEarlierAside({ resolved, run }: AttemptJob, root: string, memory: string): Promise<void> {
  const aside = join(root, memory, EARLIER, run.id);
  for (const path of writtenNotes(resolved.flow, memory)) {
    const found = untampered(lookConfined(root, join(root, path)));
    if (found === undefined || found.isDirectory()) continue;
    untampered(makeFolders(root, aside));
    await rename(join(root, path), join(aside, basename(path)));
  }
}

/** The notes that stages of this flow write; a review is moved by its own attempt. */
function writtenNotes(flow: Flow, memory: string): readonly string[] {
  const written = worksOf(flow).flatMap(({ writes, result }) => writes.filter((path) => path !== result.path));
  return [...new Set(written)].filter((path) => dirname(path) === memory);
}

function worksOf(flow: Flow): readonly WorkStage[] {
  return flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap(({ stages }) => stages);
    if (stage.kind === "dynamic") return Object.values(stage.templates);
    return stage.kind === "gate" ? [] : [stage];
  });
}
