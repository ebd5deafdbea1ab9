// The front matter of a text as plain data; empty if it is missing or unreadable.

import { splitFrontMatter } from "../../file/front-matter.ts";
import { readYaml } from "../../file/yaml.ts";

export function keysIn(text: string): Readonly<Record<string, unknown>> {
  const split = splitFrontMatter(text);
  if (!split.ok) return {};
  const read = readYaml(split.value.yaml, { file: "", subject: "ticket", linesBefore: 1 });
  return read.ok ? read.value.value : {};
}

/** The word under `status`, whatever it is; empty if there is none. */
export function statusIn(text: string): string {
  const { status } = keysIn(text);
  return typeof status === "string" ? status : "";
}
