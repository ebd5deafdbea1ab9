// What a person chose for a start: who plays which agent, and where it works.

import type { WorkspaceMode } from "../../../src/core/flow/workspace-mode.ts";
import { shellWord } from "../../../src/core/shell-word.ts";

export type Players = {
  /** Runners by agent; only those that a person chose. */
  readonly agents: Readonly<Record<string, string>>;
  readonly workspace: WorkspaceMode | "";
};

export const NO_PLAYERS: Players = { agents: {}, workspace: "" };

/** As a start takes them; only agents that the chosen flow has. */
export function playersBody({ agents, workspace }: Players): {
  readonly agents?: Record<string, string>;
  readonly workspace?: WorkspaceMode;
} {
  return {
    ...(Object.keys(agents).length === 0 ? {} : { agents: { ...agents } }),
    ...(workspace === "" ? {} : { workspace }),
  };
}

/** The same as flags of a command. */
export function playersFlags({ agents, workspace }: Players): string {
  const chosen = Object.entries(agents).map(([agent, runner]) => ` --agent ${shellWord(`${agent}=${runner}`)}`);
  return `${chosen.join("")}${workspace === "" ? "" : ` --workspace ${workspace}`}`;
}
