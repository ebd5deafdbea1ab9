// Reads a YAML list at the top of a text. Passrail's YAML reader takes only mappings, so this indents the list below a key first.

import { err, ok, type Result } from "../core/result.ts";
import { readYaml } from "./yaml.ts";

export function readYamlList(text: string): Result<unknown> {
  const indented = text.split("\n").map((line) => `  ${line}`);
  const read = readYaml(`list:\n${indented.join("\n")}\n`, { file: "tickets", subject: "tickets" });
  if (read.ok) return ok(read.value.value["list"]);
  return err(read.error[0] ?? { code: "yaml_syntax", message: "the list of tickets cannot be read" });
}
