// Writes the first settings of a project. It never replaces a file, and the operator's own new file is approved with the act that wrote it,
// if nothing else waits for approval.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { SETTINGS_FILE } from "../../settings/site.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import { lookAtTrust, type TrustState } from "../trust/trust.ts";

/** `approvable`: the trust state to approve, null where other files wait for a person, too. */
export type WrittenSettings = { readonly path: string; readonly approvable: TrustState | null };

export function writeSettings(place: TrustPlace, text: string): Result<WrittenSettings> {
  const path = join(place.project, SETTINGS_FILE);
  const before = lookAtTrust(place);
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o644 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return err(exists(path));
    return err({ code: "settings_not_written", message: `${path} cannot be written (${code ?? "unknown"}).` });
  }
  return ok({ path, approvable: approvableAfter(before, place) });
}

/** The operator may approve the files with the act that wrote the settings, if no other file waited before and no other has changed. */
export function approvableAfter(before: Result<TrustState>, place: TrustPlace): TrustState | null {
  const after = lookAtTrust(place);
  return before.ok && after.ok && isSettled(before.value) && onlySettings(after.value) ? after.value : null;
}

export const exists = (path: string) => ({
  code: "settings_exist",
  message: `${path} exists already, and init replaces nothing.`,
  hint: "passrail config list        shows what is in effect\npassrail config set KEY VALUE   changes it",
});

function isSettled({ state }: TrustState): boolean {
  return state === "none" || state === "approved";
}

function onlySettings({ files }: TrustState): boolean {
  return files.filter(({ change }) => change !== "same").every(({ path }) => path === SETTINGS_FILE);
}
