// To start a run: which flow, about what. What the daemon objects to is shown where it was asked.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { flowsQuery, queryClient } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextArea, TextField } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";

export function StartRun({ close, flow: given }: { readonly close: () => void; readonly flow?: string }): ReactNode {
  const navigate = useNavigate();
  const flows = useQuery(flowsQuery);
  const known = flows.data?.flows ?? [];
  const [chosen, setFlow] = useState(given);
  const [title, setTitle] = useState("");
  const [body, setBody] = useState("");
  const [id, setId] = useState("");
  const flow = chosen ?? known.find(({ name }) => name === "feature")?.name ?? known[0]?.name ?? "";
  const starting = useMutation({
    mutationFn: () =>
      call("startRun", { body: { flow, title: title.trim(), body, ...(id.trim() === "" ? {} : { id: id.trim() }) } }),
    onSuccess: ({ run }) => {
      toast(`Run #${run.number} has begun.`);
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
      close();
      void navigate({ to: "/runs/$run", params: { run: String(run.number) } });
    },
  });
  const missing =
    flow === ""
      ? "No flow is known."
      : title.trim() === ""
        ? "A title is needed."
        : starting.isPending
          ? "It is being started."
          : undefined;
  return (
    <Dialog title="Start a run" close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined) starting.mutate();
        }}
      >
        {flows.error !== null && <Failure error={flows.error} retry={() => void flows.refetch()} />}
        <Choice
          label="Flow"
          value={flow}
          options={known.map(({ name, title: about }) => ({ value: name, name: `${name} · ${about}` }))}
          pick={setFlow}
        />
        <TextField
          label="Title"
          value={title}
          maxLength={200}
          autoFocus
          onChange={({ target }) => setTitle(target.value)}
        />
        <TextArea
          label="What is to be done"
          rows={6}
          value={body}
          maxLength={256 * 1024}
          onChange={({ target }) => setBody(target.value)}
        />
        <TextField
          label="Ticket's own id (optional)"
          hint="Runs with the same id are runs of the same ticket."
          value={id}
          maxLength={200}
          onChange={({ target }) => setId(target.value)}
        />
        <CopyLine>{`passrail run ${flow} '${title.trim().replaceAll("'", `'\\''`) || "…"}'`}</CopyLine>
        {starting.error !== null && <Failure error={starting.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Not now</Button>
          <Button type="submit" look="primary" disabledBecause={missing}>
            Start
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
