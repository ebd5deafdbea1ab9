// `ticket edit`: edits a ticket in the person's editor, or sets single keys. The editor works on a copy. Changes that a run makes to the
// file meanwhile are merged; after a conflict the command keeps the copy and names it.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import type { TicketProblem } from "../../../core/ticket/ticket.ts";
import { splitCommand } from "../../../app/start-run/split-command.ts";
import type { TicketFolder } from "../../../ticket/file/folder.ts";
import { mergeEdit } from "../../../ticket/file/merge-edit.ts";
import { type KeyChanges, rewriteFrontMatter } from "../../../ticket/file/rewrite.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { tellProblems } from "./list.ts";
import { priorityOf } from "./new.ts";
import { findTicket, readTickets } from "./read-tickets.ts";

export async function ticketEdit(io: Io, typed: string, set: readonly string[]): Promise<number> {
  requireOperator(io, "ticket edit");
  const tickets = await readTickets(io);
  const found = findTicket(tickets, typed);
  const done = set.length > 0 ? await setKeys(tickets.folder, found, set) : await editText(io, tickets.folder, found);
  if (!done.ok) throw problemError(done.error);
  const problems = (await tickets.folder.scan()).problems.filter(({ ticket }) => ticket === found.id);
  if (io.json) printJson(io, { id: found.id, path: found.path, changed: done.value, problems });
  else {
    io.out(done.value ? `Changed ${found.path}` : "Nothing has changed.");
    tellProblems(io, problems);
  }
  return EXIT.ok;
}

type Place = { readonly id: string; readonly path: string };

async function setKeys(folder: TicketFolder, at: Place, set: readonly string[]): Promise<Result<boolean>> {
  const changes: KeyChanges = Object.assign({}, ...set.map(changeOf));
  let isChanged = false;
  const written = await folder.replace(at, (text) => {
    const changed = rewriteFrontMatter(text, changes);
    if (!changed.ok) return changed;
    isChanged = changed.value !== text;
    const [worse] = newProblems(folder, at, text, changed.value);
    return worse === undefined ? changed : err(worse);
  });
  return written.ok ? ok(isChanged) : written;
}

/** Problems that existed before are allowed: the person may be fixing one after the other. */
function newProblems(folder: TicketFolder, at: Place, before: string, after: string): readonly TicketProblem[] {
  const refused = (text: string) => folder.check(at, text).filter(({ severity }) => severity === "refused");
  const known = new Set(refused(before).map(({ code, message }) => `${code} ${message}`));
  return refused(after).filter(({ code, message }) => !known.has(`${code} ${message}`));
}

/** `ticket move` changes the status and `ticket deps` the dependencies, because they report the consequences. */
function changeOf(pair: string): KeyChanges {
  const at = pair.indexOf("=");
  const [key, value] = [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)];
  if (key === "title" && value.trim() === "") throw usageError("title_missing", "A ticket needs a title.");
  if (key === "title" || key === "repo") return { [key]: value };
  if (key === "group") return { group: value === "" ? null : value };
  if (key === "priority") return { priority: priorityOf(value) };
  throw usageError(
    "set_invalid",
    `--set ${pair.slice(0, 60)}: one of title=, repo=, group=, priority= (empty removes the last two).`,
    'passrail ticket move AGI-7 "Needs Plan"   or   passrail ticket deps AGI-7 --add AGI-3',
  );
}

async function editText(io: Io, folder: TicketFolder, at: Place): Promise<Result<boolean>> {
  const before = await folder.text(at);
  if (!before.ok) return before;
  const copy = join(mkdtempSync(join(tmpdir(), "passrail-edit-")), `${at.id}.md`);
  writeFileSync(copy, before.value, { mode: 0o600 });
  runEditor(io, copy);
  const edited = readFileSync(copy, "utf8");
  const problems = newProblems(folder, at, before.value, edited);
  if (problems.length > 0) {
    tellProblems(io, problems);
    return err(notSaved(problems, copy));
  }
  const saved = await folder.replace(at, (now) => mergeEdit(before.value, edited, now));
  if (!saved.ok) return err({ ...saved.error, hint: `your text is kept in ${copy}` });
  rmSync(join(copy, ".."), { recursive: true, force: true });
  return ok(edited !== before.value);
}

function notSaved([first]: readonly TicketProblem[], copy: string) {
  return {
    code: first?.code ?? "ticket_unreadable",
    message: "Not saved: with these problems the ticket could not start.",
    hint: `your text is kept in ${copy}`,
  };
}

function runEditor(io: Io, file: string): void {
  const { VISUAL, EDITOR } = io.environment;
  const command = splitCommand(VISUAL || EDITOR || "vi");
  if (!command.ok) throw problemError(command.error, EXIT.usage);
  const [program = "vi", ...args] = command.value;
  const ended = spawnSync(program, [...args, file], { stdio: "inherit", cwd: io.cwd });
  if (ended.error !== undefined)
    throw new CliError(
      "editor_failed",
      `The editor "${program}" cannot be started.`,
      "Set EDITOR, or use --set key=value.",
    );
  if (ended.status !== 0)
    throw new CliError(
      "editor_failed",
      `The editor "${program}" ended with ${ended.status ?? ended.signal}; nothing was saved.`,
      `your text is kept in ${file}`,
    );
}
