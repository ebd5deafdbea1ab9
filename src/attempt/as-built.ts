// What a stage leaves in the documents of the branch (`notes`), and the documents that leave the branch with it (`retires`). Passrail reads the
// notes itself: first in the workspace, where the agent can still be asked, then in the commit that would be merged.

import { rename, rm } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fillFacts } from "../core/flow/template.ts";
import { type Report, routeKey } from "../core/flow/outcome.ts";
import { pinnedOf } from "../core/run/pinned.ts";
import { factOf } from "../core/run/sequence.ts";
import { insidePath } from "../core/verdict/inside-path.ts";
import { judge } from "../core/verdict/judge.ts";
import { notesProblem, type WantedNotes } from "../core/verdict/notes.ts";
import type { Unreadable } from "../core/verdict/reading.ts";
import { lookConfined, makeFolders } from "../file/confined.ts";
import { readPinned } from "../file/pinned-copy.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { type ReadContext, workFile } from "./read-context.ts";
import { untampered } from "./tampered.ts";

/** Undefined if the stage owes none, or if the run has no such file. */
export function wantedNotes({ stage, run, home }: AttemptJob): WantedNotes | undefined {
  const file = stage.notes === undefined ? undefined : pathOf({ run }, stage.notes.file);
  if (stage.notes === undefined || file === undefined) return undefined;
  const pinned = pinnedOf(run).inputs.find(({ path }) => insidePath(path) === file);
  const before = pinned === undefined ? undefined : untampered(readPinned(home, run.id, pinned.sha256));
  return { file, under: stage.notes.under, sections: stage.notes.sections, before };
}

function pathOf({ run }: Pick<AttemptJob, "run">, template: string): string | undefined {
  const filled = fillFacts(template, (path) => factOf(run, path));
  return filled === undefined ? undefined : insidePath(filled);
}

/** Of a pass: notes that are not whole in the workspace, and open questions, which a person answers before the notes can be. */
export async function notesFault(context: ReadContext, report: Report): Promise<Unreadable | undefined> {
  const { flow, stage, notes } = context;
  if (notes === undefined || routeKey(judge(flow.words, stage, report)) !== "pass") return undefined;
  const open = report.questions?.length ?? 0;
  if (open > 0) {
    const message = `The report says complete, and it has ${open} open ${open === 1 ? "question" : "questions"}. A person answers them first: give Status blocked, or settle them.`;
    return { code: "verdict_contradicted", message };
  }
  const problem = notesProblem(notes, (await workFile(context, notes.file)) ?? null);
  return problem === undefined ? undefined : { code: "section_missing", message: problem };
}

/** In the commit that holds the work: a file that git ignores is in no merge. Without git the look at the workspace was all there is. */
export async function checkCommittedNotes(
  job: AttemptJob,
  { workspaces }: AttemptPorts,
  workspace: Workspace,
  report: Report,
): Promise<Report> {
  const notes = wantedNotes(job);
  const commit = notes === undefined ? null : await workspaces.head(workspace);
  if (notes === undefined || commit === null || workspaces.file === undefined) return report;
  const text = await workspaces.file(workspace, commit, notes.file);
  if (!text.ok) return { ...report, cause: text.error.code, reason: text.error.message };
  const problem = notesProblem(notes, text.value);
  if (problem === undefined) return report;
  return { ...report, cause: "notes_missing", reason: `In the commit ${commit.slice(0, 12)}: ${problem}` };
}

/** Before the commit of a pass. Each file once, and none twice after a crash: one that is gone is done. */
export async function retireFiles(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
): Promise<readonly string[]> {
  const { retires } = job.stage;
  if (retires === undefined) return [];
  const kept = wantedNotes(job)?.file;
  const files = [...new Set(retires.files.flatMap((template) => pathOf(job, template) ?? []))];
  const found = files.filter((file) => file !== kept && isFile(workspace.dir, file));
  // A folder of the user's own has no commit that would keep them.
  if (ports.workspaces.commit === undefined)
    return found.length === 0 ? [] : [`files_left: ${found.join(", ")} stay, because this is your own folder`];
  for (const file of found) await retire(workspace.dir, file, retires.to);
  return [];
}

async function retire(root: string, file: string, to: string | undefined): Promise<void> {
  if (to === undefined) {
    await rm(join(root, file));
    return;
  }
  const folder = join(root, dirname(file), to);
  untampered(makeFolders(root, folder));
  await rename(join(root, file), freePlace(root, folder, basename(file)));
}

/** Archives of earlier runs stay: `plan.md`, then `plan-2.md`. */
function freePlace(root: string, folder: string, name: string): string {
  const [end, places] = [extname(name), 1000];
  for (let number = 1; number <= places; number += 1) {
    const path = join(folder, number === 1 ? name : `${basename(name, end)}-${number}${end}`);
    if (untampered(lookConfined(root, path)) === undefined) return path;
  }
  throw new Error(`${folder} has ${places} files named ${name}.`);
}

function isFile(root: string, file: string): boolean {
  return untampered(lookConfined(root, join(root, file)))?.isFile() === true;
}
