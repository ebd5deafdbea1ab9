// What the check knows of the world around a flow: which agents, prompts and builtins there are.

export type CheckContext = {
  /** Names of known agents in lower case. */
  readonly agents: ReadonlySet<string>;
  /** Known prompts: "agent0-spec", "fragments/merge-auto". */
  readonly prompts: ReadonlySet<string>;
  readonly builtins: ReadonlySet<string>;
  /** The text of an agent file or prompt; with it, the check also looks whether texts keep what their stages promise. */
  readonly textOf?: (kind: "agent" | "prompt", name: string) => string | undefined;
  /** Whether the runner can work in teams; left out, nothing is said about it. */
  readonly teams?: boolean;
};

/** What the engine can do by itself in a stage of kind builtin. */
export const BUILTINS: ReadonlySet<string> = new Set(["bundles", "write-tickets", "land"]);
