// `help errors CODE`: the entry of docs/errors.md, which is in the package.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "../../../core/check/suggest.ts";
import { shippedDir } from "../../../settings/site.ts";
import { usageError } from "../../errors.ts";

/** Without a code: how to ask, and how many there are. */
export function errorPage(code: string | undefined): string {
  const entries = new Map(
    readFileSync(join(shippedDir, "docs/errors.md"), "utf8")
      .split(/^## /mu)
      .slice(1)
      .map((entry): [string, string] => [entry.slice(0, entry.indexOf("\n")).trim(), entry]),
  );
  if (code === undefined)
    return `passrail help errors CODE   explains one of ${entries.size} codes; every error prints its own\n`;
  const entry = entries.get(code.toLowerCase());
  if (entry === undefined)
    throw usageError(
      "unknown_topic",
      `There is no error code "${code.slice(0, 80)}".`,
      didYouMean(code, [...entries.keys()], "codes"),
    );
  return `${plain(entry).trimEnd()}\n`;
}

/** Markdown as text for a terminal. */
function plain(entry: string): string {
  return entry
    .replaceAll("**", "")
    .replaceAll(/(?<!\\)`/gu, "")
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/gu, "docs/$2")
    .replaceAll(/\\([`*_<>[\]|\\])/gu, "$1");
}
