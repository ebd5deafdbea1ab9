// The findings of `init`, in lines for the person who decides about the proposal.

import type { ProposedSettings } from "../setup/propose.ts";
import { placeLines, type SeenPlace } from "./place-text.ts";

export type SeenProject = SeenPlace & {
  readonly remotes: readonly string[];
  readonly proposal: ProposedSettings;
  readonly noSandbox: string | null;
};

export function setupLines({ remotes, proposal, noSandbox, ...place }: SeenProject): readonly string[] {
  const { managers, checks } = proposal;
  const names = checks.map(({ name, run, from }) => `${name} (${run.join(" ")}, from ${from})`);
  return [
    ...placeLines(place),
    remotes.length === 0 ? "No remote: work lands in this repository only." : `Remotes: ${remotes.join(", ")}.`,
    ...(managers.length === 0 ? [] : [`Package manager: ${managers.join(", ")}.`]),
    names.length === 0 ? "No checks found." : `Checks: ${names.join("; ")}.`,
    noSandbox === null ? "Sandbox: bubblewrap works (workspace: bubblewrap)." : `No bubblewrap sandbox: ${noSandbox}`,
  ];
}
