// `workspace list|clean`: the folders in which attempts work, with their runs and leftovers. `clean` pins the work before it removes a
// folder.

import { findInventory } from "../../../app/workspaces.ts";
import type { FoundWorkspace } from "../../../workspace/inventory.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { age, type Column, printJson, printTable } from "../../terminal/output.ts";
import { messageOf } from "../../../core/result.ts";

const COLORS = { live: "green", dirty: "yellow", orphaned: "dim", stray: "red" } as const;

export async function workspaceList(io: Io): Promise<number> {
  requireOperator(io, "workspace list");
  const found = await (await open(io)).list();
  if (io.json) printJson(io, { workspaces: found });
  else if (io.quiet) for (const { key } of found) io.out(key);
  else if (found.length === 0)
    io.err("No workspaces. Passrail creates one when a stage starts and removes it when the stage has ended.");
  else
    printTable(
      io,
      found.map((one) => row(io, one)),
    );
  return EXIT.ok;
}

export async function workspaceClean(io: Io, options: { readonly dryRun: boolean }): Promise<number> {
  requireOperator(io, "workspace clean");
  const inventory = await open(io);
  const found = (await inventory.list()).filter(({ state }) => state !== "live");
  if (options.dryRun) {
    if (io.json) printJson(io, { workspaces: found, removed: [] });
    else if (io.quiet) for (const { key } of found) io.out(key);
    else if (found.length === 0) io.err("Nothing to clean.");
    else
      printTable(
        io,
        found.map((one) => row(io, one)),
      );
    return EXIT.ok;
  }
  const cleaned = await inventory.clean(found);
  const failed = cleaned.filter(({ result }) => !result.ok);
  if (io.json) {
    printJson(io, {
      removed: cleaned.flatMap(({ key, result }) => (result.ok ? [{ key, pinned: result.value.pinned }] : [])),
      kept: cleaned.flatMap(({ key, result }) => (result.ok ? [] : [{ key, ...result.error }])),
    });
  } else {
    for (const { key, result } of cleaned) {
      if (!result.ok) io.err(`! ${key}: ${result.error.message}`);
      else if (io.quiet) io.out(key);
      else
        io.out(
          `Removed ${key}${result.value.pinned === null ? "" : `; its work is kept under ${result.value.pinned}`}`,
        );
    }
    if (cleaned.length === 0 && !io.quiet) io.err("Nothing to clean.");
  }
  return failed.length === 0 ? EXIT.ok : EXIT.error;
}

async function open(io: Io) {
  const opened = await findInventory({ home: io.home, project: io.cwd, environment: io.environment });
  if (!opened.ok) throw problemError(opened.error);
  return {
    list: () => asked(opened.value.list()),
    clean: (found: readonly FoundWorkspace[]) => asked(opened.value.clean(found)),
  };
}

/** A store that cannot be read must not look like a machine without runs. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const why = messageOf(error);
    throw new CliError("workspaces_unknown", `Nothing was removed: ${why}`, "passrail verify   looks at the store");
  }
}

function row(io: Io, { key, state, mode, runId, bytes, openedAt, dir }: FoundWorkspace): Column[] {
  return [
    { name: "workspace", value: key },
    { name: "state", value: state, color: COLORS[state] },
    { name: "kind", value: mode },
    { name: "run", value: runId ?? "-" },
    { name: "size", value: io.plain ? String(bytes) : `${Math.ceil(bytes / 1_000_000)} MB` },
    { name: "opened", value: io.plain ? openedAt : age(openedAt) },
    { name: "folder", value: dir },
  ];
}
