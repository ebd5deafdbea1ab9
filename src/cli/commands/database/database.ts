// `database show` and `database migrations`: where the store is, and the SQL of its schema.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { differenceOf, type NodeNote } from "../../../core/view/node-note.ts";
import { lookAtDatabase } from "../../../store/look-at-database.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function showDatabase(io: Io): Promise<number> {
  const { kind, where, schema, performer, nodes } = await lookAtDatabase(io);
  if (io.json) printJson(io, { kind, where, schema, performer, nodes: nodes.map(shownNode) });
  else if (io.quiet) io.out(where);
  else {
    io.out(plainText(`store      ${where}`));
    io.out(plainText(`schema     ${schema === 0 ? "none yet; the first run makes it" : `version ${schema}`}`));
    io.out(plainText(`performer  ${performer ?? "none"}`));
    for (const { host, url, version, performs } of nodes)
      io.out(plainText(`node       ${url} on ${host}, version ${version}, ${performs ? "performs" : "on standby"}`));
    for (const difference of differencesOf(nodes)) io.err(plainText(`warning: ${difference}`));
  }
  return EXIT.ok;
}

function shownNode({ host, url, version, performs }: NodeNote) {
  return { host, url, version, performs };
}

/** From the one that performs. */
function differencesOf(nodes: readonly NodeNote[]): readonly string[] {
  const performer = nodes.find(({ performs }) => performs);
  return performer === undefined ? [] : nodes.flatMap((node) => differenceOf(performer, node) ?? []);
}

export async function migrations(io: Io, dir: string | undefined): Promise<number> {
  const { migrationFiles } = await import("../../../store/postgres/migrations.ts");
  const files = migrationFiles();
  if (dir === undefined) {
    for (const { sql } of files) io.out(sql);
    return EXIT.ok;
  }
  const folder = resolve(io.cwd, dir);
  mkdirSync(folder, { recursive: true });
  for (const { name, sql } of files) {
    const file = join(folder, name);
    // A file that was applied must not change under its name.
    if (existsSync(file) && readFileSync(file, "utf8") !== sql)
      throw new CliError(
        "file_differs",
        `${file} is there with other content.`,
        "Move it away, or choose another folder.",
      );
    writeFileSync(file, sql);
    if (io.json) printJson(io, { file });
    else io.out(plainText(file));
  }
  return EXIT.ok;
}
