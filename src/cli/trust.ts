// Asks once before a project's files decide what runs. On a terminal the person sees what they would run and answers; without one the
// command is refused with the command that approves. A project whose files have changed keeps using the approved version.

import { mkdirSync } from "node:fs";
import { userInfo } from "node:os";
import { approveNothing, approveProject, lookAtTrust, type TrustState } from "../app/trust/trust.ts";
import { auditNote } from "./audit-note.ts";
import { CliError, problemError } from "./errors.ts";
import { requireOperator } from "./operator.ts";
import { askYesOrNo, canAsk } from "./terminal/ask-in-terminal.ts";
import type { Io } from "./terminal/io.ts";
import { oneLine } from "./terminal/plain-text.ts";

const WIDTH = 200;

/** For commands that start work. */
export async function ensureTrusted(io: Io): Promise<void> {
  const found = requireState(io);
  if (found.state === "approved") return;
  if (found.state === "none") {
    if (found.approved === null) approveNothing(placeOf(io), { by: person(), now: new Date().toISOString() });
    return;
  }
  if (canAsk(io)) {
    for (const line of effectLines(found)) io.err(line);
    const question =
      found.state === "new"
        ? "Approve these files? Nothing runs before you do. [y/N] "
        : "Approve this version? Otherwise runs keep the approved one. [y/N] ";
    if (await askYesOrNo(question)) {
      approve(io, found);
      return;
    }
  }
  if (found.state === "changed") {
    for (const line of changedLines(found)) io.err(line);
    return;
  }
  throw new CliError(
    "project_not_trusted",
    `The files by which ${io.cwd} decides what runs are not approved: ${namesOf(found)}.`,
    "passrail trust         shows what they would run\npassrail trust --yes   approves them as they are now",
  );
}

function changedLines({ files }: TrustState): readonly string[] {
  const count = files.filter(({ change }) => change !== "same").length;
  const [what, them] = count === 1 ? ["A file that decides", "it"] : [`${count} files that decide`, "them"];
  return [
    `! ${what} what runs changed since you approved ${them}. Runs keep the approved version.`,
    "  passrail trust --diff   shows the change;  passrail trust --yes   approves it",
  ];
}

/** `--trust`: approves the files as they are at the start of the command. */
export function approveNow(io: Io): void {
  requireOperator(io, "--trust");
  const found = requireState(io);
  if (found.state === "new" || found.state === "changed") approve(io, found);
}

export function approve(io: Io, { hash }: TrustState): TrustState {
  requireOperator(io, "trust --yes");
  mkdirSync(io.home, { recursive: true, mode: 0o700 });
  const approved = approveProject(placeOf(io), { hash, by: person(), now: new Date().toISOString() });
  if (!approved.ok) throw problemError(approved.error);
  auditNote(io, `trust: approved ${hash.slice(0, 16)} of ${io.cwd}`);
  return approved.value;
}

export function requireState(io: Io): TrustState {
  const found = lookAtTrust(placeOf(io));
  if (!found.ok) throw problemError(found.error);
  return found.value;
}

/** The effects of the files; for a changed project, the changes. */
export function effectLines({ project, state, effects, files }: TrustState): readonly string[] {
  const mark = { added: "+", removed: "-", same: " " } as const;
  const shown = state === "changed" ? effects.filter(({ change }) => change !== "same") : effects;
  const changed = files.filter(({ change }) => change !== "same").map(({ path, change }) => `${path} (${change})`);
  return [
    state === "changed"
      ? `The files of ${project} that decide what runs have changed: ${changed.join(", ")}`
      : `The files of ${project} decide what runs:`,
    ...shown.map(({ change, text }) => `  ${mark[change]} ${text}`),
    ...(shown.length === 0 ? ["  (only texts change: passrail trust --diff)"] : []),
  ].map((line) => oneLine(line, WIDTH));
}

export function placeOf({ home, cwd }: Pick<Io, "home" | "cwd">): { readonly home: string; readonly project: string } {
  return { home, project: cwd };
}

function namesOf({ files }: TrustState): string {
  const names = files.map(({ path }) => path);
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

function person(): string {
  return `human:${userInfo().username}`;
}
