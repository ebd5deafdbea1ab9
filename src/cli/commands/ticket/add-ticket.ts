// Registers `ticket new|list|show|edit|move|deps|compare|choose|import|sync|log`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { KEY_HELP } from "../../idempotency-key.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";

const TICKET = "the ticket's id, such as AGI-7";

export function addTicket(program: Command, context: CommandContext): void {
  const ticket = program.command("ticket").description("create, inspect and change ticket files");
  addNew(ticket, context);
  addLooks(ticket, context);
  addEdit(ticket, context);
  addMove(ticket, context);
  addDeps(ticket, context);
  addVariants(ticket, context);
  addImport(ticket, context);
  addSync(ticket, context);
  addLog(ticket, context);
}

function addNew(ticket: Command, { call }: CommandContext): void {
  const command = ticket
    .command("new")
    .description("create a ticket in the backlog")
    .argument("<title>", "the task in one line");
  const read = addOptions(command, {
    body: text("--body <text>", "the full description; - reads standard input"),
    depends: list("--depends <ticket>", "a ticket that must be finished first (repeatable)"),
    group: text("--group <group>", "tickets of a group share a branch"),
    repo: text("--repo <name>", "the repository to work on (default: the project's own)"),
    priority: text("--priority <n>", "the lowest number starts first"),
    request: text("--request <request>", "the request folder, such as FR-2 (default: a new one)"),
    idempotencyKey: text("--idempotency-key <key>", KEY_HELP),
  });
  command.action((title: string, typed: TypedFlags) =>
    call(async (io) => (await import("./new.ts")).ticketNew(io, title, read(typed))),
  );
}

function addLooks(ticket: Command, { call }: CommandContext): void {
  const all = ticket.command("list").description("list tickets with their status, and why each can or cannot start");
  const read = addOptions(all, {
    status: text("--status <word>", "only tickets with this status"),
    eligible: flag("--eligible", "only tickets that can start, in the order in which they start"),
  });
  all.action((typed: TypedFlags) => call(async (io) => (await import("./list.ts")).ticketList(io, read(typed))));
  ticket
    .command("show")
    .description("show one ticket in full")
    .argument("<ticket>", TICKET)
    .action((id: string) => call(async (io) => (await import("./list.ts")).ticketShow(io, id)));
}

function addEdit(ticket: Command, { call }: CommandContext): void {
  const command = ticket
    .command("edit")
    .description("edit a ticket in your editor, or set single keys; checks it before saving")
    .argument("<ticket>", TICKET);
  const read = addOptions(command, {
    set: list("--set <key=value>", "title, repo, group or priority (repeatable)"),
  });
  command.action((id: string, typed: TypedFlags) =>
    call(async (io) => (await import("./edit.ts")).ticketEdit(io, id, read(typed).set)),
  );
}

function addMove(ticket: Command, { call }: CommandContext): void {
  const command = ticket
    .command("move")
    .description("change a ticket's status")
    .argument("<ticket>", TICKET)
    .argument("<status>", 'such as "Needs Plan"');
  const read = addOptions(command, { force: flag("--force", "even while an agent works on the ticket") });
  command.action((id: string, status: string, typed: TypedFlags) =>
    call(async (io) => (await import("./move.ts")).ticketMove(io, id, status, read(typed))),
  );
}

function addDeps(ticket: Command, { call }: CommandContext): void {
  const command = ticket
    .command("deps")
    .description("show or change which tickets a ticket waits for, and which wait for it")
    .argument("<ticket>", TICKET);
  const read = addOptions(command, {
    add: list("--add <ticket>", "add a dependency (repeatable)"),
    remove: list("--remove <ticket>", "remove a dependency (repeatable)"),
  });
  command.action((id: string, typed: TypedFlags) =>
    call(async (io) => (await import("./deps.ts")).ticketDeps(io, id, read(typed))),
  );
}

function addVariants(ticket: Command, { call }: CommandContext): void {
  ticket
    .command("compare")
    .description("compare the variants of a group: branch, changes, checks, verdicts, cost")
    .argument("<group>", "the group's name")
    .action((group: string) => call(async (io) => (await import("./variants.ts")).ticketCompare(io, group)));
  ticket
    .command("choose")
    .description("choose one variant; the others of its group become Canceled, their branches stay")
    .argument("<ticket>", TICKET)
    .action((id: string) => call(async (io) => (await import("./variants.ts")).ticketChoose(io, id)));
}

function addImport(ticket: Command, { call }: CommandContext): void {
  const command = ticket.command("import").description("import issues into the backlog, each one once; all or none");
  const read = addOptions(command, {
    file: text("--file <file>", "a list in .json, or a table in .csv with a header row"),
    github: text("--github <owner/repo>", "open issues, read with the gh program"),
    tracker: text(
      "--tracker <tracker>",
      "a tracker of your settings, such as linear:ENG, jira:SHOP or github:acme/shop",
    ),
    label: text("--label <label>", "only issues with this label"),
    limit: text("--limit <n>", "maximum number (default 100)"),
    dryRun: flag("--dry-run", "list what would be imported, write nothing"),
  });
  command.action((typed: TypedFlags) =>
    call(async (io) => (await import("./import.ts")).ticketImport(io, read(typed))),
  );
}

function addSync(ticket: Command, { call }: CommandContext): void {
  const command = ticket
    .command("sync")
    .description("compare imported tickets with their issues, and let each follow the other");
  const read = addOptions(command, { dryRun: flag("--dry-run", "list what would change, change nothing") });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./sync.ts")).ticketSync(io, read(typed))));
}

function addLog(ticket: Command, { call }: CommandContext): void {
  ticket
    .command("log")
    .description("the output of a ticket's agents, one attempt after another")
    .argument("<ticket>", TICKET)
    .argument("[stage]", "only this stage")
    .action((id: string, stage: string | undefined) =>
      call(async (io) => (await import("./log.ts")).ticketLog(io, id, stage)),
    );
}
