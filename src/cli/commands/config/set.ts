// `config set KEY VALUE` and `config unset KEY`: changes the settings file and shows what changed. The operator's own change of an approved
// file is approved with the act.

import { changeSettings } from "../../../app/set-up/change-settings.ts";
import type { Json } from "../../../core/json.ts";
import { readYamlValue } from "../../../file/yaml-value.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { approve } from "../../trust.ts";

export type SetOptions = { readonly user: boolean; readonly dryRun: boolean };

export async function configSet(
  io: Io,
  name: string,
  text: string | undefined,
  { user, dryRun }: SetOptions,
): Promise<number> {
  requireOperator(io, "config set");
  const path = name.split(".");
  if (path.some((key) => !/^[\w*-]{1,100}$/u.test(key)))
    throw usageError(
      "setting_unknown",
      `${JSON.stringify(name)} is not the name of a setting.`,
      "passrail config list",
    );
  const site = { home: io.home, project: io.cwd, environment: io.environment };
  const value = text === undefined ? undefined : requireValue(text);
  const changed = changeSettings(site, { scope: user ? "user" : "project", path, value }, dryRun);
  if (!changed.ok) throw problemError(changed.error, EXIT.usage);
  const { path: file, diff, approvable } = changed.value;
  if (approvable !== null) approve(io, approvable);
  const isWritten = diff !== "" && !dryRun;
  if (io.json) {
    printJson(io, { path: file, written: isWritten, trusted: approvable !== null, diff });
    return EXIT.ok;
  }
  if (io.quiet) return EXIT.ok;
  if (diff === "") io.err(`${file} says so already.`);
  for (const line of diff.trimEnd().split("\n"))
    if (line !== "") io.out(line.startsWith("+") ? paint(io, "green", plainText(line)) : plainText(line));
  if (isWritten) io.err(`${paint(io, "green", "✔")} ${file} is written${approvable === null ? "" : " and approved"}.`);
  if (isWritten && approvable === null && !user)
    io.err("  passrail trust   shows the files that wait for your approval");
  return EXIT.ok;
}

function requireValue(text: string): Json {
  const read = readYamlValue(text);
  if (!read.ok) throw usageError("value_invalid", `${JSON.stringify(text)} is not YAML: ${read.error.message}`);
  return read.value as Json;
}
