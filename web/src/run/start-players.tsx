// Who plays each stage of the run that is about to start, with which model, where it works, and what it may cost. Without a choice the
// settings decide; the fields say how.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { WORKSPACE_MODES } from "../../../src/core/flow/workspace-mode.ts";
import { runnersQuery } from "../agents/queries.ts";
import { flowQuery } from "../base/queries.ts";
import { Choice } from "../ui/choice.tsx";
import { TextField } from "../ui/field.tsx";
import { usd } from "../ui/time.tsx";
import { type StartChoices, withEntry } from "./start-choices.ts";
import type { Preview } from "./start-preview.tsx";

type Props = {
  readonly flow: string;
  readonly choices: StartChoices;
  readonly change: (choices: StartChoices) => void;
  /** The plan with these choices, once it is known. */
  readonly preview: Preview | undefined;
  /** By the place in the request: `/models/build`. */
  readonly errors: Readonly<Record<string, string>>;
};

export function StartPlayers({ flow, choices, change, preview, errors }: Props): ReactNode {
  const { data } = useQuery({ ...flowQuery(flow), enabled: flow !== "", retry: false });
  const [isOpen, setOpen] = useState(false);
  const stages = (data?.stages ?? []).filter(({ kind }) => kind === "agent");
  const isWrong = Object.keys(errors).some((place) => /^\/(agents|models|workspace|budget)/u.test(place));
  return (
    <details
      className="text-sm"
      open={isOpen || isWrong}
      // A section that was opened for a mistake stays open when it is corrected: the person is typing there.
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="min-h-9 cursor-pointer py-2 pointer-coarse:min-h-11">
        Agents, models, workspace, budget
      </summary>
      <div className="flex flex-col gap-3">
        <Player name="*" label="Every stage" {...{ choices, change, preview, errors }} />
        {stages.map(({ id, who }) => (
          <Player
            key={id}
            name={id}
            label={who === "" || who === id ? id : `${id} · ${who}`}
            {...{ choices, change, preview, errors }}
          />
        ))}
        <Place {...{ choices, change, preview, errors }} />
      </div>
    </details>
  );
}

type PlayerProps = Omit<Props, "flow"> & { readonly name: string; readonly label: string };

/** One stage: its program and its model in one row. */
function Player({ name, label, choices, change, preview, errors }: PlayerProps): ReactNode {
  const found = (useQuery(runnersQuery).data?.runners ?? []).filter((each) => each.found);
  const planned = preview?.plan.stages.find(({ stage }) => stage === name);
  const now = planned === undefined || choices.agents[name] !== undefined ? null : planned.runner;
  const usual = { value: "", name: now === null ? "as the settings say" : `as the settings say: ${now}` };
  const runners = [usual, ...found.map(({ runner, login }) => ({ value: runner, name: nameOf(runner, login) }))];
  return (
    <fieldset className="grid grid-cols-1 gap-2 sm:grid-cols-2">
      <legend className="sr-only">{label}</legend>
      <Choice
        label={`${label}: played by`}
        value={choices.agents[name] ?? ""}
        options={runners}
        error={errors[`/agents/${name}`]}
        pick={(runner) => change({ ...choices, agents: withEntry(choices.agents, name, runner) })}
      />
      <TextField
        label={`${label}: model`}
        placeholder={planned?.model ?? ""}
        maxLength={200}
        autoComplete="off"
        value={choices.models[name] ?? ""}
        error={errors[`/models/${name}`]}
        onChange={({ target }) => change({ ...choices, models: withEntry(choices.models, name, target.value) })}
      />
    </fieldset>
  );
}

function Place({ choices, change, preview, errors }: Omit<Props, "flow">): ReactNode {
  const usual = { value: "", name: "as the settings say" };
  const limit = preview?.limit;
  return (
    <div className="grid grid-cols-1 gap-2 sm:grid-cols-3">
      <Choice
        label="Workspace"
        value={choices.workspace}
        options={[usual, ...WORKSPACE_MODES.map((mode) => ({ value: mode, name: mode }))]}
        error={errors["/workspace"]}
        pick={(mode) => change({ ...choices, workspace: WORKSPACE_MODES.find((each) => each === mode) ?? "" })}
      />
      <TextField
        label="Budget in dollars"
        inputMode="decimal"
        maxLength={20}
        placeholder={limit === undefined ? "" : limit.usd === null ? "no limit" : usd(limit.usd)}
        value={choices.usd}
        error={errors["/budget/usd"]}
        onChange={({ target }) => change({ ...choices, usd: target.value })}
      />
      <TextField
        label="Budget in tokens"
        inputMode="numeric"
        maxLength={20}
        placeholder={limit === undefined ? "" : limit.tokens === null ? "no limit" : limit.tokens.toLocaleString()}
        value={choices.tokens}
        error={errors["/budget/tokens"]}
        onChange={({ target }) => change({ ...choices, tokens: target.value })}
      />
    </div>
  );
}

function nameOf(runner: string, login: "yes" | "no" | "unknown"): string {
  return login === "no" ? `${runner} (logged out)` : runner;
}
