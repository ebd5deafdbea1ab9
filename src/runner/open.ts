// The runners of this machine: for each its program, its environment and its transport. A runner's code is loaded with the first stage that
// uses it.

import { prepareEnclosure } from "./process/enclose.ts";
import { childEnvironment, runnerEnvironment, secretsOf } from "./process/environment.ts";
import { createStreamRedactor } from "./process/redactor.ts";
import type { AttemptHooks, AttemptSpec, Runner } from "./runner.ts";
import type { GatewaySettings } from "../settings/gateway.ts";
import type { Settings } from "../settings/settings.ts";
import type { Startable } from "./model-routes.ts";
import { routingOf } from "./routing.ts";
import type { ProgramName } from "../core/flow/agent-options.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import { optional } from "../core/optional.ts";
import { createRedaction } from "../core/secrets/redaction.ts";
import type { ChosenRunner, Runners } from "./runners.ts";
import { accountOf } from "./account.ts";
import { createDesk } from "./desk/server.ts";

/** An order of an engine of an earlier version says nothing of enclosures and gateways. */
export type RunnerSettings = Pick<Settings, "programs" | "passEnvironment"> &
  Partial<Pick<Settings, "enclosure">> & { readonly gateway?: GatewaySettings };

const NO_GATEWAY: GatewaySettings = { mode: "off", egress: null, private: [], tape: "off" };

/** Players from the settings and the environment of this process. The caller closes their desk. */
export function openRunners(
  environment: Readonly<Record<string, string | undefined>>,
  { programs, passEnvironment, enclosure, gateway = NO_GATEWAY }: RunnerSettings,
): Runners {
  const declared = Object.values(programs).flatMap(({ env }) => secretsOf(env));
  const redaction = createRedaction([...secretsOf(environment), ...declared]);
  const runners = new Map<string, Runner>();
  const runnerOf = (name: ProgramName, transport: "acp" | "native"): Runner => {
    const key = `${name}/${transport}`;
    const runner = runners.get(key) ?? runnerNamed(name, transport);
    runners.set(key, runner);
    return runner;
  };
  return {
    desk: createDesk(),
    enclosure: enclosure?.value ?? "auto",
    prepareStart: () => prepareEnclosure(enclosure?.value ?? "auto"),
    gateway,
    redact: redaction.text,
    redactor: () => createStreamRedactor(redaction),
    checkRunner: (argv, variables) => ({
      runner: runnerOf("command", "native"),
      argv,
      environment: childEnvironment(environment, {}, [...passEnvironment, ...variables]),
    }),
    runnerFor(play: RunnerChoice): ChosenRunner {
      const { runner: name } = play;
      if (name === "outside") throw new Error("a stage that is played outside has no program here");
      const { command, env = {}, pass = [], models = {}, userFeatures } = programs[name] ?? {};
      const [first = name, ...rest] = play.command ?? command ?? [name];
      const transport = transportOf(play);
      const runner = runnerOf(name, transport);
      const { model } = play.options;
      const program: Startable = {
        argv: [first, ...rest],
        environment: childEnvironment(environment, env, [...runnerEnvironment(name), ...passEnvironment, ...pass]),
      };
      const vendorsModel = model === undefined ? undefined : (models[model] ?? model);
      return {
        runner,
        ...program,
        routing: () => routingOf(name, program, vendorsModel),
        account: accountOf(environment, { programs }, name),
        ...optional({ userFeatures }),
        options: vendorsModel === undefined ? play.options : { ...play.options, model: vendorsModel },
      };
    },
  };
}

/**
 * Two programs speak ACP and also print their own lines. Their native output reports all tokens, respects the turn limit, gives up on a
 * failing server and keeps the repository's settings off; over ACP they ask before they act.
 */
function transportOf({ transport, options }: RunnerChoice): "acp" | "native" {
  return transport ?? (options.permission === "ask" ? "acp" : "native");
}

/** A runner whose code is loaded with its first attempt. */
function runnerNamed(name: ProgramName, transport: "acp" | "native"): Runner {
  let loaded: Promise<Runner> | undefined;
  return {
    name,
    run: async (spec: AttemptSpec, hooks: AttemptHooks) => {
      loaded ??= loadRunner(name, transport);
      return (await loaded).run(spec, hooks);
    },
  };
}

async function loadRunner(name: ProgramName, transport: "acp" | "native"): Promise<Runner> {
  switch (name) {
    case "claude":
      return (await import("./claude/runner.ts")).createClaudeRunner();
    case "codex":
      return (await import("./codex/runner.ts")).createCodexRunner();
    case "gemini":
      return (await import("./gemini/runner.ts")).createGeminiRunner({ transport });
    case "opencode":
      return (await import("./opencode/runner.ts")).createOpencodeRunner({ transport });
    case "acp":
      return (await import("./acp/runner.ts")).createAcpRunner();
    case "command":
      return (await import("./command.ts")).createCommandRunner();
  }
}
