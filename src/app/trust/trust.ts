// Trust in a project's files: what is approved, what has changed since, and what the files would make Passrail do. A
// person approves one version by its hash, so a later change is not approved with it.

import { err, ok, type Result } from "../../core/result.ts";
import {
  byImportance,
  compareEffects,
  type EffectChange,
  effectsOf,
  type ProjectFileKind,
} from "../../core/view/project-effects.ts";
import { textDiff } from "../../core/view/text-diff.ts";
import {
  type ApprovalRecord,
  approvedFiles,
  findApproval,
  removeApproval,
  type TrustPlace,
  writeApproval,
} from "../../settings/trust/approval.ts";
import { type ProjectFile, readProjectFiles, valueOf } from "../../settings/trust/project-files.ts";

export type TrustedFile = {
  readonly path: string;
  readonly kind: ProjectFileKind;
  readonly change: "same" | "added" | "changed" | "removed";
  /** Unified; empty for an unchanged file. */
  readonly diff: string;
};

export type TrustState = {
  readonly project: string;
  /** none: the project brings no such files; new: no version is approved; changed: the approved version stays in use. */
  readonly state: "none" | "new" | "approved" | "changed";
  /** Names the version that is in the project now. */
  readonly hash: string;
  readonly approved: Pick<ApprovalRecord, "hash" | "approvedAt" | "by"> | null;
  readonly files: readonly TrustedFile[];
  readonly effects: readonly EffectChange[];
};

export type Approve = {
  /** The version that the person has seen. */
  readonly hash: string;
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly now: string;
};

export function lookAtTrust(place: TrustPlace): Result<TrustState> {
  const read = readProjectFiles(place.project);
  if (!read.ok) return read;
  const { hash, files } = read.value;
  const found = findApproval(place);
  const before = found.type === "approved" ? approvedFiles(found) : [];
  const approved = found.type === "approved" ? found.record : null;
  return ok({
    project: place.project,
    state: stateOf(hash, files.length, approved),
    hash,
    approved: approved === null ? null : { hash: approved.hash, approvedAt: approved.approvedAt, by: approved.by },
    files: compareFiles(before, files),
    effects: compareEffects(effectsOf(before.map(parsed)), effectsOf(files.map(parsed))),
  });
}

/** Reads the files again and approves these bytes, if they are the version that the person has seen. */
export function approveProject(place: TrustPlace, { hash, by, now }: Approve): Result<TrustState> {
  const read = readProjectFiles(place.project);
  if (!read.ok) return read;
  if (read.value.hash !== hash)
    return err({
      code: "trust_changed",
      message: "The project's files have changed since they were shown.",
      hint: "passrail trust --diff   shows them as they are now",
    });
  writeApproval(place, read.value, { by, approvedAt: now });
  return lookAtTrust(place);
}

/**
 * The first work in a project that brings no such files: records that there are none. Files that appear later wait for
 * a person, while runs continue as before.
 */
export function approveNothing(place: TrustPlace, { by, now }: Pick<Approve, "by" | "now">): void {
  if (findApproval(place).type !== "none") return;
  const read = readProjectFiles(place.project);
  if (read.ok && read.value.files.length === 0) writeApproval(place, read.value, { by, approvedAt: now });
}

/** False if nothing was approved. */
export function revokeTrust(place: TrustPlace): boolean {
  return removeApproval(place);
}

/**
 * Withdraws the approval of the version that the person looked at. A repeat changes nothing, and an approval that a person gave meanwhile stays.
 */
export function revokeVersion(
  place: TrustPlace,
  hash: string,
): Result<{ readonly after: TrustState; readonly wasApproved: boolean }> {
  const found = findApproval(place);
  if (found.type === "approved" && found.record.hash !== hash)
    return err({
      code: "trust_changed",
      message: "Another version has been approved since this one was shown.",
      hint: "passrail trust   shows what is approved now",
    });
  const wasApproved = removeApproval(place);
  const after = lookAtTrust(place);
  return after.ok ? ok({ after: after.value, wasApproved }) : after;
}

function stateOf(hash: string, count: number, approved: ApprovalRecord | null): TrustState["state"] {
  if (approved === null) return count === 0 ? "none" : "new";
  if (approved.hash !== hash) return "changed";
  return count === 0 ? "none" : "approved";
}

function compareFiles(before: readonly ProjectFile[], after: readonly ProjectFile[]): readonly TrustedFile[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const fresh = new Set(after.map(({ path }) => path));
  const kept = after.map(({ path, kind, sha256, text }): TrustedFile => {
    const known = old.get(path);
    if (known === undefined) return { path, kind, change: "added", diff: textDiff("", text) };
    if (known.sha256 === sha256 && known.kind === kind) return { path, kind, change: "same", diff: "" };
    return { path, kind, change: "changed", diff: textDiff(known.text, text) };
  });
  const gone = before
    .filter(({ path }) => !fresh.has(path))
    .map(({ path, kind, text }): TrustedFile => ({ path, kind, change: "removed", diff: textDiff(text, "") }));
  const isSame = ({ change }: TrustedFile): number => Number(change === "same");
  return [...kept, ...gone].toSorted((a, b) => isSame(a) - isSame(b) || byImportance(a, b));
}

function parsed({ path, kind, text }: ProjectFile) {
  return { path, kind, value: kind === "settings" || kind === "flow" ? valueOf(path, text) : undefined };
}
