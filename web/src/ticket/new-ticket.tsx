// A new ticket: what is to be done, and what has to be done before. It becomes a file in the project.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextArea, TextField } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { idsIn, shellWord } from "./fields.ts";
import { askAgain, problemsQuery } from "./queries.ts";

export function NewTicket({ close }: { readonly close: () => void }): ReactNode {
  const navigate = useNavigate();
  const folder = useQuery(problemsQuery).data?.folder ?? null;
  const [title, setTitle] = useState("");
  const [body, setBody] = useState("");
  const [dependsOn, setDependsOn] = useState("");
  const [group, setGroup] = useState("");
  const [priority, setPriority] = useState("");
  const [status, setStatus] = useState<"Backlog" | "Needs Human Review">("Backlog");
  const creating = useMutation({
    mutationFn: () =>
      call("createTicket", {
        body: {
          title: title.trim(),
          body,
          dependsOn: [...idsIn(dependsOn)],
          status,
          ...(group.trim() === "" ? {} : { group: group.trim() }),
          ...(priority.trim() === "" ? {} : { priority: Number(priority) }),
        },
      }),
    onSuccess: ({ id, path }) => {
      toast(`${id} is written: ${path}`);
      void askAgain(id);
      close();
      void navigate({ to: "/tickets/$ticket", params: { ticket: id } });
    },
  });
  const missing = title.trim() === "" ? "A title is needed." : creating.isPending ? "It is being written." : undefined;
  return (
    <Dialog title="New ticket" close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined) creating.mutate();
        }}
      >
        <TextField
          label="Title"
          value={title}
          maxLength={200}
          autoFocus
          onChange={({ target }) => setTitle(target.value)}
        />
        <TextArea
          label="What is to be done (Markdown)"
          rows={6}
          value={body}
          maxLength={64 * 1024}
          onChange={({ target }) => setBody(target.value)}
        />
        <TextField
          label="Depends on"
          hint="Ids of tickets that have to be done before, such as AGI-1, AGI-2."
          value={dependsOn}
          maxLength={2000}
          onChange={({ target }) => setDependsOn(target.value)}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Group (optional)"
            hint="Tickets of one group share a branch."
            value={group}
            maxLength={60}
            onChange={({ target }) => setGroup(target.value)}
          />
          <TextField
            label="Priority (optional)"
            hint="Lower comes first."
            type="number"
            min={0}
            max={1_000_000}
            value={priority}
            onChange={({ target }) => setPriority(target.value)}
          />
        </div>
        <Choice
          label="Begins as"
          value={status}
          options={[
            { value: "Backlog", name: "Backlog: it may start" },
            { value: "Needs Human Review", name: "Needs Human Review: nothing starts before somebody moves it" },
          ]}
          pick={(value) => setStatus(value === "Backlog" ? "Backlog" : "Needs Human Review")}
        />
        <CopyLine>{`passrail ticket new ${shellWord(title.trim() || "…")}`}</CopyLine>
        {folder !== null && <p className="text-xs text-muted">It becomes a file below {folder}/.</p>}
        {creating.error !== null && <Failure error={creating.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Not now</Button>
          <Button type="submit" look="primary" disabledBecause={missing}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
