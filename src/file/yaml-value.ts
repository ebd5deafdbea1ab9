// Reads one YAML value, as a person types it on the command line. Passrail's YAML reader takes only mappings, so the value is put below a key.

import { err, ok, type Result } from "../core/result.ts";
import { readYaml } from "./yaml.ts";

export function readYamlValue(text: string): Result<unknown> {
  const read = readYaml(`value:\n  ${text.replaceAll("\n", "\n  ")}\n`, { file: "the value", subject: "value" });
  if (read.ok) return ok(read.value.value["value"]);
  return err(read.error[0] ?? { code: "yaml_syntax", message: "the value cannot be read" });
}
