// Writes the first settings of a project. It never replaces a file, and the operator's own new file is approved with the act that wrote it,
// if nothing else waits for approval.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { SETTINGS_FILE } from "../../settings/trust/project-files.ts";
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
  const after = lookAtTrust(place);
  const isOwn = before.ok && after.ok && isSettled(before.value) && onlySettings(after.value);
  return ok({ path, approvable: isOwn ? after.value : null });
}

export const exists = (path: string) => ({
  code: "settings_exist",
  message: `${path} exists already, and init replaces nothing.`,
  hint: "passrail settings   shows what is in effect\npassrail doctor     looks at the machine",
});

function isSettled({ state }: TrustState): boolean {
  return state === "none" || state === "approved";
}

function onlySettings({ files }: TrustState): boolean {
  return files.filter(({ change }) => change !== "same").every(({ path }) => path === SETTINGS_FILE);
}
