// The surroundings of a flow as the check sees them: the known agents, prompts and builtins.

export type CheckContext = {
  /** Names of known agents in lower case. */
  readonly agents: ReadonlySet<string>;
  /** Known prompts: "agent0-spec", "fragments/merge-auto". */
  readonly prompts: ReadonlySet<string>;
  readonly builtins: ReadonlySet<string>;
  /** The text of an agent file or prompt; with it, the check also compares texts with what their stages promise. */
  readonly textOf?: (kind: "agent" | "prompt", name: string) => string | undefined;
  /** Whether the runner can work in teams; if absent, the check skips the question. */
  readonly teams?: boolean;
};

/** The builtins that the engine runs without an agent. */
export const BUILTINS: ReadonlySet<string> = new Set(["bundles", "write-tickets", "land"]);
