// The menu of what can be done with a run. What cannot be done now says why; what is done is asked for once more, with a reason and its command.

import { Menu } from "@base-ui/react/menu";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { actsQuery, queryClient } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { type Act, actName, commandOf, WORDING } from "./acts.ts";
import type { RunDetail } from "./types.ts";

export function RunActions({ run }: { readonly run: Pick<RunDetail, "id" | "number"> }): ReactNode {
  const { data, error } = useQuery(actsQuery(run.id));
  const [chosen, setChosen] = useState<Act | null>(null);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="inline-flex min-h-9 cursor-pointer items-center gap-2 rounded-md border border-line bg-panel px-3 text-sm font-medium hover:bg-sunken pointer-coarse:min-h-11">
          Actions <span aria-hidden="true">▾</span>
        </Menu.Trigger>
        <Menu.Portal container={document.getElementById("main")}>
          <Menu.Positioner sideOffset={4} align="end" className="z-40">
            <Menu.Popup className="max-h-[70dvh] w-72 overflow-auto rounded-md border border-line bg-panel p-1 shadow-lg outline-none">
              {data === undefined && (
                <p className="p-2 text-sm text-muted">{error === null ? "Loading…" : "The daemon does not say."}</p>
              )}
              {data?.acts.map((act) => (
                <Menu.Item
                  key={actName(act)}
                  disabled={act.why !== null}
                  onClick={() => setChosen(act)}
                  className="flex min-h-9 cursor-pointer flex-col justify-center rounded px-2.5 py-1 text-sm outline-none data-disabled:cursor-not-allowed data-disabled:text-muted data-highlighted:bg-active-soft pointer-coarse:min-h-11"
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
  const wording = WORDING[act.act];
  const doing = useMutation({
    mutationFn: () => perform(run.id, act, said.trim()),
    onSuccess: ({ run: after }) => {
      toast(`${actName(act)}: done. Run #${run.number} is ${after.status}.`);
      void queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => kind === "run" || kind === "acts" });
      close();
    },
  });
  const isSilent = wording.says === "needed reason" && said.trim() === "";
  return (
    <Dialog title={`${actName(act)} · run #${run.number}`} close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isSilent && !doing.isPending) doing.mutate();
        }}
      >
        <p className="text-sm">{wording.about}</p>
        {wording.says !== "nothing" && (
          <TextArea
            label={
              wording.says === "note"
                ? "Note for the next attempt"
                : wording.says === "reason"
                  ? "Reason (recorded)"
                  : "Reason (needed, recorded)"
            }
            value={said}
            maxLength={10_000}
            autoFocus
            onChange={({ target }) => setSaid(target.value)}
          />
        )}
        <CopyLine>{commandOf(act.act, run.number, act.stage, said)}</CopyLine>
        {doing.error !== null && <Failure error={doing.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Not now</Button>
          <Button
            type="submit"
            look={wording.isDanger ? "danger" : "primary"}
            disabledBecause={isSilent ? "A reason is needed." : doing.isPending ? "It is being done." : undefined}
          >
            {actName(act)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function perform(run: string, { act, stage }: Act, said: string) {
  const params = { run };
  const of = stage === null ? {} : { stage };
  switch (act) {
    case "pause":
      return call("pauseRun", { params, body: { reason: said } });
    case "resume":
      return call("resumeRun", { params, body: {} });
    case "retry":
      return call("retryStage", { params, body: { ...of, note: said } });
    case "rerun":
      return call("rerunFrom", { params, body: { stage: stage ?? "", note: said } });
    case "skip":
      return call("skipStage", { params, body: { ...of, reason: said } });
    case "cancel":
      return call("cancelRun", { params, body: { reason: said } });
  }
}
