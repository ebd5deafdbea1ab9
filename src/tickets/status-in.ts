// The word that a ticket's file says under `status`, whatever it is; empty where it says none or cannot be read.

import { splitFrontMatter } from "../catalog/front-matter.ts";
import { readYaml } from "../catalog/yaml.ts";

export function statusIn(text: string): string {
  const split = splitFrontMatter(text);
  if (!split.ok) return "";
  const read = readYaml(split.value.yaml, { file: "", subject: "ticket", linesBefore: 1 });
  const status = read.ok ? read.value.value["status"] : undefined;
  return typeof status === "string" ? status : "";
}
