#!/usr/bin/env node
// The entry point of the program. It stays small and loads everything else on demand, because `--version`, `--help` and mistyped
// words should answer at once.

import { existsSync, readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { homeOf } from "../settings/site.ts";
import { reportError } from "./errors.ts";
import { helpPage } from "./help-page.ts";
import { isHeld } from "./interrupt.ts";

const OLDEST_NODE = [22, 16] as const;
const HELP_WORDS: ReadonlySet<string> = new Set(["--help", "-h"]);
const VERSION_WORDS: ReadonlySet<string> = new Set(["--version", "-V", "-v", "version"]);

quietSqlite();
process.stdout.on("error", onClosedOutput);
process.stderr.on("error", onClosedOutput);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    process.stderr.write(
      `✖ Passrail needs Node 22.23.3, 24.18.1, 26 or a newer one of these lines; this is ${process.versions.node}.\n`,
    );
    return 1;
  }
  const words = args.filter((word) => word !== "--json");
  if (words.length === 1 && VERSION_WORDS.has(words[0] ?? "")) {
    process.stdout.write(args.length === 1 ? `${version()}\n` : `${versionJson()}\n`);
    return 0;
  }
  const help = args.length === 1 && HELP_WORDS.has(args[0] ?? "") ? helpPage(widthOf(process.stdout)) : undefined;
  if (help !== undefined) {
    process.stdout.write(help);
    return 0;
  }
  keepCompiled();
  if (process.env["PASSRAIL_DEBUG"] === "1") process.setSourceMapsEnabled(true);
  try {
    const { runProgram } = await import("./program.ts");
    return await runProgram(args, version());
  } catch (error) {
    if (process.env["PASSRAIL_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
    const json = args.slice(0, (args.indexOf("--") + args.length + 1) % (args.length + 1)).includes("--json");
    return reportError({ err: (line) => process.stderr.write(`${line}\n`), json, color: false }, error);
  }
}

/** package.json is beside src/ in a checkout and beside dist/ in the package. */
function version(): string {
  const { version: found } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return found;
}

/** Compiled code for the next start. In the state folder, where no other user writes; a command that only reads makes none. */
function keepCompiled(): void {
  const home = homeOf(process.env);
  if (existsSync(home)) enableCompileCache(join(home, "compiled"));
}

function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY ? columns : 80;
}

/** A report of a problem needs these first. */
function versionJson(): string {
  const { node, sqlite = null } = process.versions;
  return JSON.stringify({ version: version(), node, sqlite, platform: `${process.platform}-${process.arch}` }, null, 2);
}

/** Node 22 calls SQLite experimental on every start; only that one sentence is dropped. */
function quietSqlite(): void {
  const emit = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    if (typeof warning === "string" && warning.startsWith("SQLite is an experimental feature")) return;
    emit(warning, ...rest);
  };
}

/** The reader has enough (`| head -1`). It must not stop a run in progress. */
function onClosedOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  if (!isHeld()) process.exit(0);
}
