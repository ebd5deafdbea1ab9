// Registers `webhook deliveries|endpoints|redeliver|test|enable`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, text, textOr, type TypedFlags } from "../../options.ts";

const ENDPOINT = "see: passrail webhook endpoints";

export function addWebhook(program: Command, context: CommandContext): void {
  const { call } = context;
  const webhook = program.command("webhook").description("notifications that were sent, and their endpoints");
  addDeliveries(webhook, context);
  webhook
    .command("endpoints")
    .description("list endpoints, and whether deliveries arrive")
    .action(() => call(async (io) => (await import("./webhook.ts")).webhookEndpoints(io)));
  webhook
    .command("redeliver")
    .description("send a notification again under its old id")
    .argument("<id>", "see: passrail webhook deliveries")
    .action((id: string) => call(async (io) => (await import("./webhook.ts")).webhookRedeliver(io, id)));
  webhook
    .command("test")
    .description("send a test message to an endpoint")
    .argument("<endpoint>", ENDPOINT)
    .action((name: string) => call(async (io) => (await import("./webhook.ts")).webhookTest(io, name)));
  webhook
    .command("enable")
    .description("use an endpoint again that was disabled because it reported that it is gone")
    .argument("<endpoint>", ENDPOINT)
    .action((name: string) => call(async (io) => (await import("./webhook.ts")).webhookEnable(io, name)));
}

function addDeliveries(webhook: Command, { call }: CommandContext): void {
  const command = webhook.command("deliveries").description("list deliveries, newest first");
  const read = addOptions(command, {
    endpoint: text("--endpoint <name>", "only deliveries to this endpoint"),
    limit: textOr("--limit <n>", "maximum number", "50"),
  });
  command.action((typed: TypedFlags) =>
    call(async (io) => (await import("./webhook.ts")).webhookDeliveries(io, read(typed))),
  );
}
