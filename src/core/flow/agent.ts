// An agent is a role with a prompt; a resolved flow is everything a run needs from the catalog, stored with the run.

import type { WrittenOptions } from "./agent-options.ts";
import type { Flow } from "./flow.ts";

export type AgentDefinition = {
  /** Lower case. */
  readonly name: string;
  /** When to use it, for the router. */
  readonly description: string;
  readonly skills: readonly string[];
  readonly model?: string;
  /** How it is played, as far as its file sets it: tools, turns, runner … */
  readonly options?: WrittenOptions;
  /** A router may choose it although the flow does not name it. */
  readonly isRouted?: true;
  /** It judges the work of others: its verdict counts, and none is no pass. */
  readonly judges?: true;
  /** The files that it reads and must write if the flow has no stage of its own for it. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Program and arguments for the command runner, where the agent file names one. */
  readonly command?: readonly string[];
  readonly prompt: string;
};

export type ResolvedFlow = {
  readonly flow: Flow;
  /** By name in lower case; only those this flow can use. */
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  /** Prompt files and fragments by name (`agent0-spec`, `fragments/repair`). */
  readonly prompts: Readonly<Record<string, string>>;
  /** sha256 of the canonical JSON of the three above. */
  readonly hash: string;
};
