// The folder of tickets as files on this machine: implements the port of folder.ts.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { ticketNumber, type TicketProblem, type TicketScan } from "../../core/ticket/ticket.ts";
import { assignIds } from "./assign-ids.ts";
import { createTickets } from "./create.ts";
import type { TicketFolder, Written } from "./folder.ts";
import { numberOfFile } from "./numbers.ts";
import { FOLDER_INVALID, isOwnFolder } from "./own-folder.ts";
import { readTicketFile } from "./read-file.ts";
import { replaceFile } from "./replace-file.ts";
import { readTicket } from "./read-ticket.ts";
import { ownRepoNames, repoRule } from "./repos.ts";
import { rewriteFrontMatter } from "./rewrite.ts";
import { createScanner } from "./scan.ts";
import type { TicketSettings } from "../../settings/tickets.ts";
import { statusIn } from "./keys-in.ts";
import { watchFolder } from "./watch.ts";

export type TicketFolderOptions = {
  /** Absolute path of the project's folder. */
  readonly project: string;
  readonly settings: TicketSettings;
};

export function openTicketFolder({ project, settings }: TicketFolderOptions): TicketFolder {
  const { folder, requestPrefix, ticketPrefix } = settings;
  const root = join(project, folder);
  const [ownRepo = "."] = ownRepoNames(project);
  const allowsRepo = repoRule(project, settings.repos);
  const scanner = createScanner({ root, settings, allowsRepo, isOwn: () => isOwnFolder(project, folder) });

  return {
    ownRepo,
    repo: Object.keys(settings.repos).length === 0 ? ownRepo : "TBD",

    scan: scanAndAssign,

    async text({ path }) {
      const file = fileOf(path);
      if (!file.ok) return file;
      const read = readTicketFile(file.value);
      return read.ok ? ok(read.value.text) : err(at(path, read.error));
    },

    update: ({ path }, changes, expect) =>
      replace(path, (text) => {
        const before = statusIn(text);
        if (expect !== undefined && before !== expect.status) return err(conflict(path, expect.status, before));
        return rewriteFrontMatter(text, changes);
      }),

    replace: ({ path }, change) => replace(path, change),

    check({ path }, text) {
      const [name = "", request = ""] = path.split("/").toReversed();
      const { unknownStatus } = settings;
      const id = name.replace(/\.md$/u, "");
      return readTicket({ text, hash: "", path, request, id, prefix: ticketPrefix, unknownStatus, allowsRepo })
        .problems;
    },

    async create(tickets, how) {
      if (!isOwnFolder(project, folder)) return err(at(folder, FOLDER_INVALID));
      return createTickets({ root, folder, requestPrefix, ticketPrefix }, tickets, how);
    },

    watch: (onChange) => watchFolder({ root, project, scan: async () => (await scanner.scan()).scan }, onChange),
  };

  async function scanAndAssign(): Promise<TicketScan> {
    const found = await scanner.scan();
    const lacking = found.files.filter(({ lacksId }) => lacksId);
    if (lacking.length === 0) return found.scan;
    const problems: readonly TicketProblem[] = await assignIds(root, ticketPrefix, lacking);
    const { scan } = await scanner.scan();
    return problems.length === 0 ? scan : { ...scan, problems: [...scan.problems, ...problems] };
  }

  async function replace(path: string, change: (text: string) => Result<string>): Promise<Result<Written>> {
    const file = fileOf(path);
    if (!file.ok) return file;
    const replaced = await replaceFile(file.value, ({ text }) => change(text));
    if (!replaced.ok) return err(at(path, replaced.error));
    return ok({ hash: replaced.value.after.hash, before: statusIn(replaced.value.before.text) });
  }

  /** The only place where a ticket's path becomes a file's: FR-n/AGI-m.md below the folder, through no link. */
  function fileOf(path: string): Result<string> {
    const [name = "", request = "", ...rest] = path.split("/").toReversed();
    const isTicket =
      rest.toReversed().join("/") === folder &&
      ticketNumber(request, requestPrefix) !== undefined &&
      numberOfFile(name, ticketPrefix) !== undefined;
    if (!isTicket) return err({ code: "ticket_path_invalid", message: `${path.slice(0, 200)} is not a ticket's file` });
    if (!isOwnFolder(project, folder)) return err(at(folder, FOLDER_INVALID));
    const stat = lstatSync(join(root, request), { throwIfNoEntry: false });
    if (stat === undefined) return err(at(path, { code: "ticket_file_missing", message: "there is no such file" }));
    if (!stat.isDirectory()) return err(at(path, { code: "ticket_is_link", message: "its folder is a link" }));
    return ok(join(root, request, name));
  }
}

function at<P extends { readonly message: string }>(path: string, problem: P): P {
  return { ...problem, message: `${path}: ${problem.message}` };
}

function conflict(path: string, expected: string, found: string) {
  return {
    code: "ticket_conflict",
    message: `the status is "${found}" by now, not "${expected}"; nothing was written`,
    hint: `passrail ticket show ${path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/u, "")}`,
  };
}
