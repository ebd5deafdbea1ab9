// Who plays agents on this machine: for every runner its program, its environment and how to talk to it. Runners are loaded when the first
// stage asks for them: a machine that only runs commands never loads the others.

import type { AttemptHooks, AttemptSpec, Runner, StreamRedactor } from "./agents/runner.ts";
import type { Program } from "./config.ts";
import type { RunnerName } from "./core/agent-options.ts";
import type { Play } from "./core/play.ts";
import type { Player, Players } from "./engine/players.ts";
import type { Desk } from "./mcp/desk.ts";

export type PlayersOptions = {
  readonly programs: Readonly<Partial<Record<RunnerName, Program>>>;
  /** What agents may see for a runner and the names that the operator passes to it. */
  readonly environmentFor: (
    runner: RunnerName,
    declared: Readonly<Record<string, string>>,
    pass: readonly string[],
  ) => Record<string, string>;
  readonly desk: Desk;
  readonly redact: (text: string) => string;
  readonly redactor: () => StreamRedactor;
};

export function createPlayers({ programs, environmentFor, desk, redact, redactor }: PlayersOptions): Players {
  const runners = new Map<string, Runner>();
  const environments = new Map<RunnerName, Readonly<Record<string, string>>>();
  return {
    desk,
    redact,
    redactor,
    playerFor(play: Play): Player {
      const { runner: name } = play;
      const program = programs[name];
      const [first = name, ...rest] = play.command ?? program?.command ?? [name];
      const environment = environments.get(name) ?? environmentFor(name, program?.env ?? {}, program?.pass ?? []);
      environments.set(name, environment);
      const key = `${name}/${play.transport ?? ""}`;
      const runner = runners.get(key) ?? runnerNamed(name, play.transport);
      runners.set(key, runner);
      const { model } = play.options;
      const mapped = model === undefined ? undefined : (program?.models[model] ?? model);
      const options = mapped === undefined ? play.options : { ...play.options, model: mapped };
      return { runner, argv: [first, ...rest], environment, options };
    },
  };
}

/** A runner whose code is loaded with its first attempt. Over ACP opencode does not tell how many tokens it used once it called a tool. */
function runnerNamed(name: RunnerName, transport: Play["transport"]): Runner {
  let loaded: Promise<Runner> | undefined;
  return {
    name,
    run: async (spec: AttemptSpec, hooks: AttemptHooks) => {
      loaded ??= loadRunner(name, transport ?? (name === "opencode" ? "native" : "acp"));
      return (await loaded).run(spec, hooks);
    },
  };
}

async function loadRunner(name: RunnerName, transport: "acp" | "native"): Promise<Runner> {
  switch (name) {
    case "claude":
      return (await import("./agents/claude/runner.ts")).createClaudeRunner();
    case "codex":
      return (await import("./agents/codex/runner.ts")).createCodexRunner();
    case "gemini":
      return (await import("./agents/gemini/runner.ts")).createGeminiRunner({ transport });
    case "opencode":
      return (await import("./agents/opencode/runner.ts")).createOpencodeRunner({ transport });
    case "acp":
      return (await import("./agents/acp/runner.ts")).createAcpRunner();
    case "command":
      return (await import("./agents/command.ts")).createCommandRunner();
  }
}
