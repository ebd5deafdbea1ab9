// The surroundings of a flow as the check sees them: the known agents, prompts and builtins.

import type { RunnerName } from "../flow/agent-options.ts";
import type { WorkStage } from "../flow/flow.ts";

export type CheckContext = {
  /** Names of known agents in lower case. */
  readonly agents: ReadonlySet<string>;
  /** Known prompts: "agent0-spec", "fragments/merge-auto". */
  readonly prompts: ReadonlySet<string>;
  readonly builtins: ReadonlySet<string>;
  /** The text of an agent file or prompt; with it, the check also compares texts with what their stages promise. */
  readonly textOf?: (kind: "agent" | "prompt", name: string) => string | undefined;
  /** The runner that the settings choose for a stage; without it, the check skips what depends on runners. */
  readonly runnerOf?: (stage: WorkStage) => RunnerName | undefined;
  /** The checks that the project's settings define; if absent, the check skips the question. */
  readonly checks?: ReadonlySet<string>;
};

/** The builtins that the engine runs without an agent. */
export const BUILTINS: ReadonlySet<string> = new Set(["bundles", "write-tickets", "join", "land", "next-row"]);
