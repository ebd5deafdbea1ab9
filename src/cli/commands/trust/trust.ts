// `trust`: shows which of the project's files are approved, changed or new, and what they would run; --yes approves them as they are now,
// `trust revoke` withdraws the approval.

import { revokeTrust, type TrustState } from "../../../app/trust/trust.ts";
import { auditNote } from "../../audit-note.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";
import type { Io } from "../../terminal/io.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { approve, effectLines, placeOf, requireState } from "../../trust.ts";

export type TrustOptions = { readonly diff: boolean; readonly yes: boolean };

export async function trust(io: Io, { diff, yes }: TrustOptions): Promise<number> {
  const found = requireState(io);
  const shown = yes && found.state !== "none" && found.state !== "approved" ? approve(io, found) : found;
  if (io.json) printJson(io, shown);
  else if (io.quiet) io.out(shown.hash);
  else print(io, diff ? found : shown, { diff, isApproved: shown !== found });
  return isWaiting(shown) ? EXIT.waiting : EXIT.ok;
}

export async function trustRevoke(io: Io): Promise<number> {
  requireOperator(io, "trust revoke");
  if (!revokeTrust(placeOf(io)))
    throw new CliError("trust_not_found", `Nothing of ${io.cwd} is approved.`, "passrail trust");
  auditNote(io, `trust: revoked for ${io.cwd}`);
  if (io.json) printJson(io, { revoked: io.cwd });
  else if (!io.quiet)
    io.out("Revoked: nothing new starts here, and no work leaves, before you approve the files again.");
  return EXIT.ok;
}

function print(io: Io, found: TrustState, { diff, isApproved }: { diff: boolean; isApproved: boolean }): void {
  const { approved, files, state } = found;
  if (files.length === 0)
    return io.out("This project brings no files that decide what runs; nothing needs an approval.");
  printTable(
    io,
    files.map(({ path, kind, change }) => [
      { name: "STATE", value: wordOf(state, change) },
      { name: "KIND", value: kind },
      { name: "FILE", value: path },
    ]),
  );
  for (const line of effectLines(found)) io.err(line);
  if (diff)
    for (const file of files.filter((each) => each.diff !== "")) {
      io.out(`--- ${plainText(file.path)} (${file.change})`);
      for (const line of file.diff.trimEnd().split("\n")) io.out(plainText(line));
    }
  if (isApproved) io.err("Approved: runs use these files from now on.");
  else if (isWaiting(found))
    io.err("passrail trust --diff   shows every line;  passrail trust --yes   approves these files");
  else if (approved !== null) io.err(plainText(`Approved by ${approved.by}, ${age(approved.approvedAt)}.`));
}

function wordOf(state: TrustState["state"], change: TrustState["files"][number]["change"]): string {
  if (change === "same") return "approved";
  return state === "new" || change === "added" ? "new" : change;
}

function isWaiting({ state }: TrustState): boolean {
  return state === "new" || state === "changed";
}
