// An operator's approvals: a record per project and the approved bytes, in a private folder of the state folder. A new approval writes the
// bytes first and the record last, so that a crash leaves the approval before it in force.

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { PROJECT_FILE_KINDS } from "../../core/view/project-effects.ts";
import { replacePrivate, syncFolder, writePrivate } from "../../file/private-file.ts";
import { commonGitDir } from "./git-dir.ts";
import { asProjectFiles, hashOfFile, type ProjectFile, type ProjectFiles } from "./project-files.ts";

/** `home` is the state folder, `project` the user's folder. */
export type TrustPlace = { readonly home: string; readonly project: string };

const recordSchema = z.object({
  version: z.literal(1),
  project: z.string(),
  gitDir: z.string().nullable(),
  hash: z.string().regex(/^[0-9a-f]{64}$/u),
  files: z.array(z.object({ path: z.string(), kind: z.enum(PROJECT_FILE_KINDS), sha256: z.string() })),
  approvedAt: z.string(),
  by: z.string(),
});

export type ApprovalRecord = z.infer<typeof recordSchema>;

export type FoundApproval =
  | { readonly type: "none" }
  /** `dir` holds the approved bytes under the paths of the project. */
  | { readonly type: "approved"; readonly dir: string; readonly record: ApprovalRecord }
  | { readonly type: "damaged"; readonly why: string };

const RECORD = "approval.json";
/** A reader may still use the version before this one. */
const VERSIONS_KEPT = 5;

type Known = { readonly stamp: string; readonly found: FoundApproval };
/** Record file -> what was found there. The bytes are compared with the record once per process and record. */
const known = new Map<string, Known>();

export function findApproval(place: TrustPlace): FoundApproval {
  const { folder, project, gitDir } = folderOf(place);
  const file = join(folder, RECORD);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return { type: "none" };
  const stamp = `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.size}`;
  const before = known.get(file);
  if (before?.stamp === stamp) return before.found;
  const found = readApproval(folder);
  const isOther = found.type === "approved" && (found.record.project !== project || found.record.gitDir !== gitDir);
  const kept: FoundApproval = isOther ? { type: "damaged", why: `${file} is about another project` } : found;
  known.set(file, { stamp, found: kept });
  return kept;
}

/** The approved files with their bytes. */
export function approvedFiles({ dir, record }: Extract<FoundApproval, { type: "approved" }>): readonly ProjectFile[] {
  return record.files.map((file) => ({ ...file, text: readFileSync(join(dir, file.path), "utf8") }));
}

export function writeApproval(
  place: TrustPlace,
  { hash, files }: ProjectFiles,
  { by, approvedAt }: Pick<ApprovalRecord, "by" | "approvedAt">,
): void {
  const { folder, project, gitDir } = folderOf(place);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const dir = join(folder, hash);
  if (damageIn(dir, files) !== undefined) writeCopies(folder, dir, files);
  const names = files.map(({ path, kind, sha256 }) => ({ path, kind, sha256 }));
  const record: ApprovalRecord = { version: 1, project, gitDir, hash, files: names, approvedAt, by };
  replacePrivate(join(folder, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  dropOld(folder, hash);
}

/** All of them or none. Another process may write the same copies at the same time. */
function writeCopies(folder: string, dir: string, files: readonly ProjectFile[]): void {
  const fresh = join(folder, `.new-${randomUUID()}`);
  mkdirSync(fresh, { mode: 0o700 });
  for (const { path, text } of files) {
    mkdirSync(dirname(join(fresh, path)), { recursive: true, mode: 0o700 });
    writePrivate(join(fresh, path), text);
  }
  try {
    renameSync(fresh, dir);
  } catch {
    // The folder exists: another process has just written the same copies, or they are damaged.
    if (damageIn(dir, files) !== undefined) {
      rmSync(dir, { recursive: true, force: true });
      renameSync(fresh, dir);
    } else rmSync(fresh, { recursive: true, force: true });
  }
  syncFolder(folder);
}

/** False if there was none. */
export function removeApproval(place: TrustPlace): boolean {
  const { folder } = folderOf(place);
  const file = join(folder, RECORD);
  const existed = statSync(file, { throwIfNoEntry: false }) !== undefined;
  rmSync(file, { force: true });
  if (existed) syncFolder(folder);
  return existed;
}

function readApproval(folder: string): FoundApproval {
  const damaged = (why: string): FoundApproval => ({ type: "damaged", why });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(join(folder, RECORD), "utf8"));
  } catch {
    return damaged(`${join(folder, RECORD)} cannot be read`);
  }
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) return damaged(`${join(folder, RECORD)} has an unknown form`);
  const record = parsed.data;
  const dir = join(folder, record.hash);
  const damage = damageIn(dir, record.files);
  if (damage !== undefined) return damaged(`the approved copy of ${damage} is damaged`);
  const whole = asProjectFiles(record.files.map((file) => ({ ...file, text: "" })));
  return whole.hash === record.hash ? { type: "approved", dir, record } : damaged("the record does not fit its hash");
}

/** The first copy that is not as it was approved. */
function damageIn(dir: string, files: readonly Pick<ProjectFile, "path" | "sha256">[]): string | undefined {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return dir;
  return files.find(({ path, sha256 }) => hashOfFile(path, copyOf(join(dir, path))) !== sha256)?.path;
}

/** Empty for a missing copy, which has the hash of no file that was read. */
function copyOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function folderOf({ home, project }: TrustPlace) {
  const real = realOf(project);
  const gitDir = commonGitDir(real);
  const key = createHash("sha256")
    .update(`${real}\0${gitDir ?? ""}`)
    .digest("hex")
    .slice(0, 32);
  return { folder: join(home, "trust", key), project: real, gitDir };
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Other processes may add and remove versions meanwhile. */
function dropOld(folder: string, current: string): void {
  const versions = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== current)
    .map(({ name }) => {
      const path = join(folder, name);
      return { path, changedMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    })
    .toSorted((a, b) => b.changedMs - a.changedMs);
  for (const { path } of versions.slice(VERSIONS_KEPT)) rmSync(path, { recursive: true, force: true });
}
