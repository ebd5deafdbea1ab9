// The dialog that creates a ticket. The ticket becomes a file in the project.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { InputTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { Choice } from "../ui/choice.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { toast } from "../ui/toast.ts";
import { useFields } from "../ui/use-fields.ts";
import { idsIn } from "./fields.ts";
import { askAgain, problemsQuery } from "./queries.ts";

const FIRST_STATUSES = [
  { value: "Backlog", name: "Backlog: it can start" },
  { value: "Needs Human Review", name: "Needs Human Review: it starts only after you move it" },
] as const;

export function NewTicket({ close }: { readonly close: () => void }): ReactNode {
  const folder = useQuery(problemsQuery).data?.folder ?? null;
  const [values, field] = useFields({ title: "", body: "", dependsOn: "", group: "", priority: "" });
  const [status, setStatus] = useState<(typeof FIRST_STATUSES)[number]["value"]>("Backlog");
  const title = values.title.trim();
  const group = values.group.trim();
  const creating = useCreate(close);
  const create = (): void =>
    creating.mutate({
      title,
      body: values.body,
      dependsOn: [...idsIn(values.dependsOn)],
      status,
      ...(group === "" ? {} : { group }),
      ...(values.priority.trim() === "" ? {} : { priority: Number(values.priority) }),
    });
  return (
    <FormDialog
      title="New ticket"
      close={close}
      submit={create}
      action="Create"
      disabledBecause={
        title === "" ? "Enter a title." : creating.isPending ? "The ticket is being written." : undefined
      }
      error={creating.error}
      command={`passrail ticket new ${shellWord(title || "…")}`}
    >
      <TextField label="Title" maxLength={200} autoFocus {...field("title")} />
      <TextArea label="What to do (Markdown)" rows={6} maxLength={64 * 1024} {...field("body")} />
      <TextField
        label="Depends on"
        hint="Ids of tickets that must be done first, such as AGI-1, AGI-2."
        maxLength={2000}
        {...field("dependsOn")}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField
          label="Group (optional)"
          hint="Tickets of one group share a branch."
          maxLength={60}
          {...field("group")}
        />
        <TextField
          label="Priority (optional)"
          hint="Lower numbers come first."
          type="number"
          min={0}
          max={1_000_000}
          {...field("priority")}
        />
      </div>
      <Choice
        label="First status"
        value={status}
        options={FIRST_STATUSES}
        pick={(value) => setStatus(FIRST_STATUSES.find((each) => each.value === value)?.value ?? "Backlog")}
      />
      {folder !== null && <p className="text-xs text-muted">Passrail writes it as a file below {folder}/.</p>}
    </FormDialog>
  );
}

function useCreate(close: () => void) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (body: NonNullable<InputTo<"createTicket">["body"]>) => call("createTicket", { body }),
    onSuccess: ({ id, path }) => {
      toast(`Created ${id}: ${path}`);
      void askAgain(id);
      close();
      void navigate({ to: "/tickets/$ticket", params: { ticket: id } });
    },
  });
}
