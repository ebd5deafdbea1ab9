// The engine's view of the programs that play agents: their runners, their environments, their desk. Built in compose.ts.

import type { Runner, StreamRedactor } from "./runner.ts";
import type { AgentOptions } from "../core/flow/agent-options.ts";
import type { EnclosureChoice } from "../core/flow/enclosure.ts";
import type { UserFeature } from "../core/flow/runner-names.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { GatewaySettings } from "../settings/gateway.ts";
import type { Desk } from "./desk/desk.ts";
import type { ModelRouting } from "./model-routes.ts";

export type Runners = {
  /** The stage's choice completed with this machine's facts. */
  runnerFor(play: RunnerChoice): ChosenRunner;
  /** A program that Passrail runs as a check, with these variables of its own environment besides the usual ones. */
  checkRunner(argv: readonly [string, ...string[]], variables: readonly string[]): CheckRunner;
  /** Where attempts submit their verdicts; only runners with a model use it. */
  readonly desk: Desk;
  /** What shall hold the processes of a program without a sandbox together. */
  readonly enclosure: EnclosureChoice;
  /** A program without a sandbox starts in a moment. */
  readonly prepareStart?: () => void;
  /** Whether agents ask their models through a gateway. */
  readonly gateway: GatewaySettings;
  /** Removes known secrets from a text before it is kept. */
  readonly redact: (text: string) => string;
  readonly redactor: () => StreamRedactor;
};

export type ChosenRunner = {
  readonly runner: Runner;
  /** Program and the operator's arguments. */
  readonly argv: readonly [string, ...string[]];
  /** The child's environment, before the attempt's own names. */
  readonly environment: Readonly<Record<string, string>>;
  /** How it is pointed at a gateway, and why not. */
  readonly routing: () => ModelRouting;
  /** With the vendor's own names of models. */
  readonly options: AgentOptions;
  /** What the user lets it have of their own set-up of the program; absent without a choice. */
  readonly userFeatures?: readonly UserFeature[];
  /** The pool that pays: `API key`, `cloud`, `login`, or empty where that is not known. */
  readonly account: string;
};

export type CheckRunner = Pick<ChosenRunner, "runner" | "argv" | "environment">;
