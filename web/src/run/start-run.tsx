// The dialog that starts a run: the flow and the task.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { flowsQuery, queryClient } from "../base/queries.ts";
import { shellWord } from "../base/shell-word.ts";
import { Choice, TextArea, TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { useFields } from "../ui/use-fields.ts";

export function StartRun({ close, flow: given }: { readonly close: () => void; readonly flow?: string }): ReactNode {
  const flows = useQuery(flowsQuery);
  const known = flows.data?.flows ?? [];
  const [chosen, setFlow] = useState(given);
  const [values, field] = useFields({ title: "", body: "", id: "" });
  const flow = chosen ?? known.find(({ name }) => name === "feature")?.name ?? known[0]?.name ?? "";
  const title = values.title.trim();
  const starting = useStart({ flow, title, body: values.body, id: values.id.trim() }, close);
  const whyNot =
    flow === ""
      ? "There are no flows."
      : title === ""
        ? "Enter a title."
        : starting.isPending
          ? "The run is starting."
          : undefined;
  return (
    <FormDialog
      title="Start a run"
      close={close}
      submit={() => starting.mutate()}
      action="Start"
      disabledBecause={whyNot}
      error={starting.error}
      command={`passrail run ${flow} ${shellWord(title || "…")}`}
    >
      {flows.error !== null && <Failure error={flows.error} retry={() => void flows.refetch()} />}
      <Choice
        label="Flow"
        value={flow}
        options={known.map(({ name, title: about }) => ({ value: name, name: `${name} · ${about}` }))}
        pick={setFlow}
      />
      <TextField label="Title" maxLength={200} autoFocus {...field("title")} />
      <TextArea label="What to do" rows={6} maxLength={256 * 1024} {...field("body")} />
      <TextField
        label="Ticket id (optional)"
        hint="Runs with the same id belong to the same ticket."
        maxLength={200}
        {...field("id")}
      />
    </FormDialog>
  );
}

type NewRun = { readonly flow: string; readonly title: string; readonly body: string; readonly id: string };

function useStart({ id, ...body }: NewRun, close: () => void) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => call("startRun", { body: { ...body, ...(id === "" ? {} : { id }) } }),
    onSuccess: ({ run }) => {
      toast(`Run #${run.number} started.`);
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
      close();
      void navigate({ to: "/runs/$run", params: { run: String(run.number) } });
    },
  });
}
