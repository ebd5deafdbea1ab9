// JSON Schemas for editors, in the project: an editor that knows YAML completes and explains the keys of passrail.yaml
// and of flows. Passrail itself does not read them, so they need no approval, and a file that cannot be written is no
// problem.

import { join } from "node:path";
import { z } from "zod";
import { flowSchema } from "../../core/check/schema-at.ts";
import { makeFolders, writeConfined } from "../../file/confined.ts";
import { fileSchema } from "../../settings/settings.ts";

const FOLDER = ".passrail/schemas";

/** First lines of the files, for the language server of YAML. */
export const EDITOR_LINES = {
  settings: `# yaml-language-server: $schema=${FOLDER}/settings.json`,
  flow: "# yaml-language-server: $schema=../schemas/flow.json",
} as const;

/** False if they could not be written. Earlier ones are replaced: they belong to a version of Passrail. */
export function writeEditorSchemas(project: string): boolean {
  const schemas = {
    "settings.json": { title: "Passrail settings", ...settingsSchema() },
    "flow.json": { title: "Passrail flow", ...flowSchema() },
  };
  if (!makeFolders(project, join(project, FOLDER)).ok) return false;
  return Object.entries(schemas).every(
    ([name, schema]) => writeConfined(project, join(project, FOLDER, name), `${JSON.stringify(schema)}\n`, 0o644).ok,
  );
}

function settingsSchema(): object {
  return z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" });
}
