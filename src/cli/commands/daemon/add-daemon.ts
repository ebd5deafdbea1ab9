// Registers `up`, `down`, `status`, `open`, `key create|list|revoke` and `service install`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { SLOTS_HELP, WORKSPACE_HELP } from "../../help-text.ts";
import { addOptions, choice, choiceOr, flag, list, text, textOr, type TypedFlags } from "../../options.ts";

export function addDaemon(program: Command, context: CommandContext): void {
  addUp(program, context);
  addDown(program, context);
  addStatus(program, context);
  addOpen(program, context);
  addKey(program, context);
  addService(program, context);
}

function addUp(program: Command, { call, version }: CommandContext): void {
  const command = program.command("up").alias("start").description("run the daemon (engine and API) until Ctrl-C");
  const read = addOptions(command, {
    detach: flag("--detach", "run in the background"),
    work: flag("--work", "also pick the project's tickets, as the setting tickets.dispatch does"),
    until: text(
      "--until <time>",
      "pause everything at 07:00, in 8h or at a time in UTC, and report; none: without end",
    ),
    budget: text("--budget <usd>", "pause everything when this much is spent by all runs since the start, and report"),
    port: text("--port <n>", "the port to listen on; 0 takes any free port"),
    host: text("--host <address>", "the loopback address to listen on"),
    allowHost: list("--allow-host <name>", "another name that clients may use, as name:port (repeatable)"),
    listen: text("--listen <address>", "also listen for other machines, with TLS, such as 0.0.0.0:7443"),
    tlsCert: text("--tls-cert <file>", "the certificate of --listen (PEM); a renewed one is taken without a restart"),
    tlsKey: text("--tls-key <file>", "the key of the certificate"),
    dangerouslyBind: flag("--dangerously-bind", "let other machines connect; nothing is encrypted"),
    slots: text("--slots <n>", SLOTS_HELP),
    workspace: text("--workspace <kind>", WORKSPACE_HELP),
    quietly: flag("--quietly", "write the log to its file only", (option) => option.hideHelp()),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./up.ts")).up(io, version, read(typed))));
}

function addDown(program: Command, { call }: CommandContext): void {
  const command = program
    .command("down")
    .alias("stop")
    .description("stop the daemon; coding agents work on, and the next daemon adopts them");
  const read = addOptions(command, {
    drain: flag("--drain", "start nothing new, and let running attempts finish first"),
    stopAgents: flag("--stop-agents", "end all attempts; the next daemon runs their stages again"),
    timeout: textOr("--timeout <seconds>", "seconds to wait for it to exit", "60"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./up.ts")).down(io, read(typed))));
}

function addStatus(program: Command, { call }: CommandContext): void {
  program
    .command("status")
    .description("whether a daemon is running, and where")
    .action(() => call(async (io) => (await import("./status.ts")).status(io)));
}

function addOpen(program: Command, { call }: CommandContext): void {
  const command = program
    .command("open")
    .description("open the dashboard in a browser, logged in")
    .argument("[page]", "such as /runs/12", "/");
  const read = addOptions(command, {
    print: flag("--print", "only print the address; it is valid for one login and one minute"),
  });
  command.action((path: string, typed: TypedFlags) =>
    call(async (io) => (await import("./open.ts")).open(io, { path, ...read(typed) })),
  );
}

function addKey(program: Command, { call }: CommandContext): void {
  const key = program.command("key").description("create, list and revoke API tokens, and pair devices");
  const create = key
    .command("create")
    .description("create a token; it is printed once")
    .argument("[name]", "the owner; for a webhook the name of its source (default: the agent)");
  const read = addOptions(create, {
    scope: choiceOr("--scope <scope>", "what the token allows", ["viewer", "operator", "agent", "worker", "webhook"]),
    agent: text("--agent <agent>", "scope agent: the agent outside that it speaks for"),
    story: text("--story <id>", "scope agent: good for this story or ticket only"),
    labels: text("--labels <list>", "scope worker: the only labels that its worker may have, such as gpu,mac"),
    expires: text("--expires <time>", "refused after this time: 12h, 30d (default: when it is revoked)"),
  });
  create.action((name: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./key.ts")).keyCreate(io, name, read(typed))),
  );
  const pair = key
    .command("pair")
    .description("log in a phone or another computer: prints a QR code that is good for one login and five minutes")
    .argument("<name>", "the owner of the device, for the record, such as anna-phone");
  const readPair = addOptions(pair, {
    scope: choiceOr("--scope <scope>", "what the device allows", ["operator", "viewer"]),
    days: textOr("--days <n>", "how long the device stays logged in", "90"),
  });
  pair.action((name: string, typed: TypedFlags) =>
    call(async (io) => (await import("./pair.ts")).keyPair(io, name, readPair(typed))),
  );
  key
    .command("list")
    .description("list keys, without their tokens")
    .action(() => call(async (io) => (await import("./key.ts")).keyList(io)));
  key
    .command("revoke")
    .description("refuse a token from now on")
    .argument("<id>", "see: passrail key list")
    .action((id: string) => call(async (io) => (await import("./key.ts")).keyRevoke(io, id)));
}

function addService(program: Command, { call }: CommandContext): void {
  const command = program
    .command("service")
    .description("start the daemon with the system")
    .command("install")
    .description("write the file for systemd or launchd; starts nothing");
  const read = addOptions(command, {
    print: flag("--print", "print the file instead"),
    force: flag("--force", "replace an existing file"),
    kind: choice("--kind <kind>", "the service manager (default: the one of this system)", ["systemd", "launchd"]),
  });
  command.action((typed: TypedFlags) =>
    call(async (io) => (await import("./service.ts")).serviceInstall(io, read(typed))),
  );
}
