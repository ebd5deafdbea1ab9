// Pauses or resumes every open run: shows the effect, asks once, and reports the result.

import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { nowQuery, queryClient } from "../base/queries.ts";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { toast } from "../ui/toast.ts";

type Act = "pause" | "resume";

const ABOUT: Readonly<Record<Act, string>> = {
  pause:
    "No further stage of any open run starts, also after a gate is answered, and runs that are started later begin paused. Agents that work now finish their stage; Stop beside one ends it at once. It lasts until a person resumes everything, also after a restart.",
  resume: "Every paused run resumes, also those that were paused one by one.",
};
const NAME: Readonly<Record<Act, string>> = { pause: "Pause everything", resume: "Resume everything" };

export function HoldAll({ act, close }: { readonly act: Act; readonly close: () => void }): ReactNode {
  const [reason, setReason] = useState("");
  const working = useQuery(nowQuery).data?.working.length ?? 0;
  const doing = useMutation({
    mutationFn: () =>
      act === "pause" ? call("pauseAll", { body: { reason: reason.trim() } }) : call("resumeAll", { body: {} }),
    onSuccess: ({ changed, refused }) => {
      const count = `${changed.length} ${changed.length === 1 ? "run" : "runs"}`;
      toast(`${act === "pause" ? "Paused" : "Resumed"} ${count}.`);
      for (const { number, why } of refused.slice(0, 3)) toast(`#${number}: ${why}`, "bad");
      void queryClient.invalidateQueries();
      close();
    },
  });
  return (
    <FormDialog
      title={NAME[act]}
      close={close}
      submit={() => doing.mutate()}
      action={NAME[act]}
      look={act === "pause" ? "danger" : "primary"}
      disabledBecause={doing.isPending ? "It is being done." : undefined}
      error={doing.error}
      command={`passrail runs ${act} --all`}
    >
      <p className="text-sm">{ABOUT[act]}</p>
      {act === "pause" && (
        <>
          <p className="text-sm text-muted">
            {working === 0
              ? "No agent works now."
              : working === 1
                ? "One agent works now."
                : `${working} agents work now.`}
          </p>
          <TextField
            label="Reason (optional, recorded)"
            maxLength={1000}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </>
      )}
    </FormDialog>
  );
}
