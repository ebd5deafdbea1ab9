// Who plays which agent in the run that is about to start, and where it works. Without a choice the settings decide.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { WORKSPACE_MODES } from "../../../src/core/flow/workspace-mode.ts";
import { runnersQuery } from "../agents/queries.ts";
import { flowQuery } from "../base/queries.ts";
import { Choice } from "../ui/field.tsx";
import type { Players } from "./players.ts";

type Props = { readonly flow: string; readonly players: Players; readonly change: (players: Players) => void };

export function StartPlayers({ flow, players, change }: Props): ReactNode {
  const { data } = useQuery({ ...flowQuery(flow), enabled: flow !== "", retry: false });
  const found = (useQuery(runnersQuery).data?.runners ?? []).filter((each) => each.found);
  const usual = { value: "", name: "as the settings say" };
  const runners = [usual, ...found.map(({ runner, login }) => ({ value: runner, name: nameOf(runner, login) }))];
  const workspaces = [usual, ...WORKSPACE_MODES.map((mode) => ({ value: mode, name: mode }))];
  return (
    <details className="text-sm">
      <summary className="min-h-9 cursor-pointer py-2 pointer-coarse:min-h-11">Agents and workspace</summary>
      <div className="flex flex-col gap-2">
        {(data?.agents ?? []).map((agent) => (
          <Choice
            key={agent}
            label={`${agent} is played by`}
            value={players.agents[agent] ?? ""}
            options={runners}
            pick={(runner) => {
              const { [agent]: _before, ...others } = players.agents;
              change({ ...players, agents: runner === "" ? others : { ...others, [agent]: runner } });
            }}
          />
        ))}
        <Choice
          label="Workspace"
          value={players.workspace}
          options={workspaces}
          pick={(mode) => change({ ...players, workspace: WORKSPACE_MODES.find((each) => each === mode) ?? "" })}
        />
      </div>
    </details>
  );
}

function nameOf(runner: string, login: "yes" | "no" | "unknown"): string {
  return login === "no" ? `${runner} (logged out)` : runner;
}
