// The project's rules for agents (CLAUDE.md, AGENTS.md, named standards), as they are in the commit that a run begins
// with. A later change by an agent reaches no other agent of the run.

import { realpath } from "node:fs/promises";
import { git } from "../../git/git.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { hashOf, INPUT_BYTES, type InputText, readInputFile } from "../../file/input-file.ts";

export type RulesRequest = {
  readonly project: string;
  /** Null outside a repository: the files are read as they are. */
  readonly commit: string | null;
  /** Left out if they do not exist. */
  readonly paths: readonly string[];
  /** Named by a person: a missing one is an error. */
  readonly standards: readonly string[];
};

export type ProjectRules = { readonly rules: readonly InputText[]; readonly warnings: readonly string[] };

export async function readProjectRules(request: RulesRequest): Promise<Result<ProjectRules>> {
  const { project, commit, standards } = request;
  const paths = [...new Set([...request.paths, ...standards])];
  const rules: InputText[] = [];
  const warnings: string[] = [];
  const blobs = commit === null ? ok(null) : await blobsOf(project, commit, paths);
  if (!blobs.ok) return blobs;
  for (const path of paths) {
    const read = blobs.value === null ? readInputFile(project, path) : await readBlob(project, path, blobs.value);
    if (read.ok) rules.push(read.value);
    else if (standards.includes(path)) return err(missingStandard(path, read.error));
    else if (read.error !== MISSING) warnings.push(`${path} ${read.error}; agents do not get its rules`);
  }
  return ok({ rules, warnings });
}

const MISSING = "does not exist";
type Blobs = ReadonlyMap<string, { readonly id: string; readonly bytes: number }>;

/** The regular files of the commit among these paths, in one process. */
async function blobsOf(project: string, commit: string, paths: readonly string[]): Promise<Result<Blobs>> {
  if (paths.length === 0) return ok(new Map());
  const root = await realpath(project);
  const listed = await git(root, ["ls-tree", "-z", "-l", commit, "--", ...paths], {
    env: { GIT_LITERAL_PATHSPECS: "1" },
  });
  if (!listed.ok) return listed;
  const rows = listed.value.split("\0").flatMap((row) => {
    const [, id = "", size = "", path = ""] = /^100(?:644|755) blob ([0-9a-f]{40,64}) +(\d+)\t(.*)$/su.exec(row) ?? [];
    return id === "" ? [] : [[path, { id, bytes: Number(size) }] as const];
  });
  return ok(new Map(rows));
}

async function readBlob(project: string, path: string, blobs: Blobs): Promise<Result<InputText, string>> {
  const blob = blobs.get(path);
  if (blob === undefined) return err(MISSING);
  if (blob.bytes > INPUT_BYTES) return err(`is larger than ${INPUT_BYTES / 1024} KB`);
  const text = await git(project, ["cat-file", "blob", blob.id], { maxBytes: INPUT_BYTES + 1 });
  if (!text.ok) return err(`cannot be read: ${text.error.message}`);
  if (text.value.includes("\0") || text.value.trim() === "") return err("is not a text");
  return ok({ path, text: text.value, sha256: hashOf(text.value), bytes: blob.bytes });
}

const missingStandard = (path: string, why: string) => ({
  code: "standard_missing",
  message: `The settings name the standard ${path}, which ${why === MISSING ? "is not committed in the project" : why}.`,
  hint: "Commit it, or take it out of `standards` in passrail.yaml.",
});
