// `node scripts/release-notes.ts v0.2.0` prints the changelog's section of that version, for the notes of a release. It refuses a tag that is
// not the version of package.json, and a version without a section.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has ${version}.`);
  const sections = changelog.split(/^## /mu).slice(1);
  const own = sections.find((section) => section.split(/\s/u)[0] === version);
  if (own === undefined)
    throw new Error(`CHANGELOG.md has no section "## ${version}"; give "Unreleased" that name, with the date.`);
  return `${own.slice(own.indexOf("\n")).trim()}\n`;
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const [tag = ""] = process.argv.slice(2);
  process.stdout.write(releaseNotes(tag, version, readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")));
}
