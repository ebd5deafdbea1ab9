// The dialog that edits the front matter of a ticket's file. It writes only the keys that the person changed. If another person has changed
// the file meanwhile, it overwrites nothing and says so.

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ApiError } from "../base/api.ts";
import { plain } from "../base/plain-text.ts";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { toast } from "../ui/toast.ts";
import { useFields } from "../ui/use-fields.ts";
import { idsIn } from "./fields.ts";
import { askAgain, changeTicket, type TicketEdit } from "./queries.ts";

type Detail = AnswerTo<"showTicket">;
type Props = { readonly ticket: Detail; readonly file: NonNullable<Detail["file"]>; readonly close: () => void };
type Values = Readonly<Record<"title" | "dependsOn" | "group" | "priority" | "repo", string>>;

export function EditTicket({ ticket, file, close }: Props): ReactNode {
  // The version when the dialog opened; the page behind it may load a newer one.
  const [seen] = useState(() => ({ version: file.version, values: valuesOf(ticket.title, file) }));
  const [values, field] = useFields(seen.values);
  const changes = changesOf(seen.values, values);
  const saving = useMutation({
    mutationFn: () => changeTicket(ticket.id, changes, seen.version),
    onSuccess: () => {
      toast(`${ticket.id}: saved`);
      close();
    },
    onError: () => void askAgain(ticket.id),
  });
  const isConflict = saving.error instanceof ApiError && saving.error.problem.code === "ticket_conflict";
  const whyNot = isConflict
    ? "First look at the file as it is now."
    : Object.keys(changes).length === 0
      ? "You have not changed anything."
      : values.title.trim() === ""
        ? "Enter a title."
        : saving.isPending
          ? "The ticket is being saved."
          : undefined;
  return (
    <FormDialog
      title={`Edit ${plain(ticket.id, 60)}`}
      close={close}
      submit={() => saving.mutate()}
      action="Save"
      cancel={isConflict ? "Show the file as it is now" : "Close"}
      disabledBecause={whyNot}
      error={saving.error}
      command={`passrail ticket edit ${ticket.id}`}
    >
      <TextField label="Title" maxLength={200} autoFocus {...field("title")} />
      <TextField label="Depends on" hint="Ticket ids, separated by commas." maxLength={4000} {...field("dependsOn")} />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField label="Group" maxLength={60} {...field("group")} />
        <TextField label="Priority" type="number" min={0} max={1_000_000} {...field("priority")} />
      </div>
      <TextField
        label="Repository"
        hint="The ticket cannot start while this is TBD."
        maxLength={200}
        {...field("repo")}
      />
      <p className="text-xs text-muted">To change the text below the front matter, edit the file itself:</p>
    </FormDialog>
  );
}

function valuesOf(title: string, file: Props["file"]): Values {
  return {
    title,
    dependsOn: file.dependsOn.join(", "),
    group: file.group ?? "",
    priority: file.priority === null ? "" : String(file.priority),
    repo: file.repo,
  };
}

/** Only the keys with a changed value. */
function changesOf(before: Values, now: Values): TicketEdit {
  const [title, group, repo] = [now.title.trim(), now.group.trim(), now.repo.trim()];
  const [idsBefore, ids] = [idsIn(before.dependsOn), idsIn(now.dependsOn)];
  return {
    ...(title === before.title ? {} : { title }),
    ...(ids.join() === idsBefore.join() ? {} : { dependsOn: [...ids] }),
    ...(group === before.group ? {} : { group: group === "" ? null : group }),
    ...(now.priority === before.priority ? {} : { priority: now.priority === "" ? null : Number(now.priority) }),
    ...(repo === before.repo ? {} : { repo }),
  };
}
