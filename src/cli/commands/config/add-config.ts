// Registers `config list|get|set|unset|explain`, and `settings`, its older name.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

const KEY = "a setting, such as merge.mode; see: passrail config list";

export function addConfig(program: Command, { call }: CommandContext): void {
  const config = program.command("config").description("list, explain and change settings and limits");
  const list = (io: Parameters<Parameters<typeof call>[0]>[0], name: string | undefined) =>
    import("./list.ts").then(({ configList }) => configList(io, name));
  config.action(() => call((io) => list(io, undefined)));
  config
    .command("list")
    .description("every setting and limit with its value and where it came from")
    .argument("[key]", "only those whose name begins so, such as tickets")
    .action((name: string | undefined) => call((io) => list(io, name)));
  config
    .command("get")
    .description("the value of one setting")
    .argument("<key>", KEY)
    .action((name: string) => call(async (io) => (await import("./list.ts")).configGet(io, name)));
  config
    .command("explain")
    .description("the meaning of a setting, what can set it, and which of these counts")
    .argument("<key>", KEY)
    .action((name: string) => call(async (io) => (await import("./explain.ts")).configExplain(io, name)));
  const options = {
    user: flag("--user", "your own file instead of the project's"),
    dryRun: flag("--dry-run", "only show the difference"),
  };
  const set = config
    .command("set")
    .description("change passrail.yaml, keep its comments, and show the difference")
    .argument("<key>", KEY)
    .argument("<value>", "YAML: 4, claude, [npm, test], { usd: 5 }");
  const readSet = addOptions(set, options);
  set.action((name: string, value: string, typed: TypedFlags) =>
    call(async (io) => (await import("./set.ts")).configSet(io, name, value, readSet(typed))),
  );
  const unset = config.command("unset").description("remove a key from passrail.yaml").argument("<key>", KEY);
  const readUnset = addOptions(unset, options);
  unset.action((name: string, typed: TypedFlags) =>
    call(async (io) => (await import("./set.ts")).configSet(io, name, undefined, readUnset(typed))),
  );
  program
    .command("settings")
    .description("the same as: config list")
    .argument("[key]", "only those whose name begins so, such as tickets")
    .action((name: string | undefined) => call((io) => list(io, name)));
}
