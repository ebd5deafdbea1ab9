// The menu of actions on a run. An action that is not possible now says why; a chosen one asks for confirmation and shows its command.

import { Menu } from "@base-ui/react/menu";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { actsQuery } from "../base/queries.ts";
import { runnersQuery } from "../agents/queries.ts";
import { Choice } from "../ui/choice.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { type Act, actName, commandOf, type Extras, inPlace, NO_EXTRAS, WORDING } from "./acts.ts";
import type { RunDetail } from "./types.ts";
import { useAct } from "./use-act.ts";
import { ChevronDown } from "lucide-react";

export function RunActions({ run }: { readonly run: Pick<RunDetail, "id" | "number"> }): ReactNode {
  const { data, error } = useQuery(actsQuery(run.id));
  const [opened, setOpened] = useState<readonly Act[] | null>(null);
  const [chosen, setChosen] = useState<Act | null>(null);
  const now = data?.acts;
  const acts = opened === null || now === undefined ? now : inPlace(opened, now);
  return (
    <>
      <Menu.Root onOpenChange={(isOpen) => setOpened(isOpen ? (now ?? null) : null)}>
        <Menu.Trigger className="inline-flex min-h-9 cursor-pointer items-center gap-2 rounded-md border border-line bg-panel px-3 text-sm font-medium hover:bg-sunken pointer-coarse:min-h-11">
          Actions <ChevronDown className="size-4" />
        </Menu.Trigger>
        <Menu.Portal container={document.getElementById("main")}>
          <Menu.Positioner sideOffset={4} align="end" className="z-40">
            <Menu.Popup className="max-h-[70dvh] w-72 overflow-auto rounded-md border border-line bg-panel p-1 shadow-lg outline-none">
              {acts === undefined && (
                <p className="p-2 text-sm text-muted">
                  {error === null ? "Loading…" : "The actions could not be loaded."}
                </p>
              )}
              {acts?.map((act) => (
                <Menu.Item
                  key={actName(act)}
                  disabled={act.why !== null}
                  onClick={() => setChosen(act)}
                  className="flex min-h-9 cursor-pointer flex-col justify-center rounded px-2.5 py-1 text-sm outline-none data-disabled:cursor-not-allowed data-disabled:text-muted data-highlighted:bg-chosen pointer-coarse:min-h-11"
                >
                  <span className={WORDING[act.act].isDanger && act.why === null ? "text-bad" : ""}>
                    {actName(act)}
                  </span>
                  {act.why !== null && <span className="text-xs">{act.why}</span>}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {chosen !== null && <ActDialog run={run} act={chosen} close={() => setChosen(null)} />}
    </>
  );
}

export function ActDialog({
  run,
  act,
  close,
}: {
  readonly run: Pick<RunDetail, "id" | "number">;
  readonly act: Act;
  readonly close: () => void;
}): ReactNode {
  const [said, setSaid] = useState("");
  const [extras, setExtras] = useState(NO_EXTRAS);
  const wording = WORDING[act.act];
  const doing = useAct(run, act, close);
  const isSilent = wording.says === "needed reason" && said.trim() === "";
  return (
    <FormDialog
      title={`${actName(act)} · run #${run.number}`}
      close={close}
      submit={() => doing.mutate({ said: said.trim(), extras })}
      action={actName(act)}
      look={wording.isDanger ? "danger" : "primary"}
      disabledBecause={isSilent ? "Enter a reason." : doing.isPending ? "The action is running." : undefined}
      error={doing.error}
      command={commandOf(act.act, run.number, act.stage, said, extras)}
    >
      <p className="text-sm">{wording.about}</p>
      {wording.says !== "nothing" && (
        <TextArea
          label={LABELS[wording.says]}
          value={said}
          maxLength={10_000}
          autoFocus
          onChange={({ target }) => setSaid(target.value)}
        />
      )}
      {act.act === "retry" && act.stage !== null && <OtherPlayer extras={extras} change={setExtras} />}
      {act.act === "handback" && (
        <label className="flex min-h-9 items-center gap-2 text-sm pointer-coarse:min-h-11">
          <input
            type="checkbox"
            checked={extras.discard}
            onChange={({ target }) => setExtras({ ...extras, discard: target.checked })}
          />
          Continue without my changes (they are kept under a ref)
        </label>
      )}
    </FormDialog>
  );
}

/** Who plays the stage from the next attempt on. */
function OtherPlayer({
  extras,
  change,
}: {
  readonly extras: Extras;
  readonly change: (extras: Extras) => void;
}): ReactNode {
  const found = (useQuery(runnersQuery).data?.runners ?? []).filter((each) => each.found);
  const runners = [{ value: "", name: "the same" }, ...found.map(({ runner }) => ({ value: runner, name: runner }))];
  return (
    <>
      <Choice label="Agent" value={extras.agent} options={runners} pick={(agent) => change({ ...extras, agent })} />
      <TextField
        label="Model"
        hint="Empty: the same. Both stay for the rest of the run; limits and permissions are those of the settings now."
        value={extras.model}
        maxLength={200}
        onChange={({ target }) => change({ ...extras, model: target.value })}
      />
    </>
  );
}

const LABELS = {
  note: "Note for the next attempt",
  reason: "Reason (recorded)",
  "needed reason": "Reason (required, recorded)",
} as const;
