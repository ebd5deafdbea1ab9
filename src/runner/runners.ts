// What the engine knows of the programs that play agents: who they are, what they get, how they talk back. Built in compose.ts.

import type { Runner, StreamRedactor } from "./runner.ts";
import type { AgentOptions } from "../core/flow/agent-options.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { Desk } from "./desk/desk.ts";

export type Runners = {
  /** Everything that this machine adds to what a stage asks for. */
  runnerFor(play: RunnerChoice): ChosenRunner;
  /** Where attempts submit their verdicts; only runners with a model behind them are told of it. */
  readonly desk: Desk;
  /** Takes known secrets out of a text before it is kept. */
  readonly redact: (text: string) => string;
  readonly redactor: () => StreamRedactor;
};

export type ChosenRunner = {
  readonly runner: Runner;
  /** Program and the operator's arguments. */
  readonly argv: readonly [string, ...string[]];
  /** The child's environment, before the attempt's own names. */
  readonly environment: Readonly<Record<string, string>>;
  /** With the vendor's own names of models. */
  readonly options: AgentOptions;
};
