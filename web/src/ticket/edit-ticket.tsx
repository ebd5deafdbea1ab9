// What stands in the head of a ticket's file, changed key by key. What somebody else wrote meanwhile is not overwritten: then it is shown.

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ApiError } from "../base/api.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { plain } from "../base/plain-text.ts";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { idsIn } from "./fields.ts";
import { askAgain, changeTicket, type TicketEdit } from "./queries.ts";

type Detail = AnswerTo<"showTicket">;
type Props = { readonly ticket: Detail; readonly file: NonNullable<Detail["file"]>; readonly close: () => void };

export function EditTicket({ ticket, file, close }: Props): ReactNode {
  // What was looked at when the box was opened; the page behind it goes on.
  const [seen] = useState({ title: ticket.title, file });
  const [title, setTitle] = useState(seen.title);
  const [dependsOn, setDependsOn] = useState(file.dependsOn.join(", "));
  const [group, setGroup] = useState(file.group ?? "");
  const [priority, setPriority] = useState(file.priority === null ? "" : String(file.priority));
  const [repo, setRepo] = useState(file.repo);
  const changes: TicketEdit = {
    ...(title.trim() === seen.title ? {} : { title: title.trim() }),
    ...(idsIn(dependsOn).join() === seen.file.dependsOn.join() ? {} : { dependsOn: [...idsIn(dependsOn)] }),
    ...(group.trim() === (seen.file.group ?? "") ? {} : { group: group.trim() === "" ? null : group.trim() }),
    ...(priority === (seen.file.priority === null ? "" : String(seen.file.priority))
      ? {}
      : { priority: priority === "" ? null : Number(priority) }),
    ...(repo.trim() === seen.file.repo ? {} : { repo: repo.trim() }),
  };
  const saving = useMutation({
    mutationFn: () => changeTicket(ticket.id, changes, seen.file.version),
    onSuccess: () => {
      toast(`${ticket.id}: saved`);
      close();
    },
    onError: () => void askAgain(ticket.id),
  });
  const isConflict = saving.error instanceof ApiError && saving.error.problem.code === "ticket_conflict";
  const whyNot = isConflict
    ? "Look at what the file says now first."
    : Object.keys(changes).length === 0
      ? "Nothing is changed."
      : title.trim() === ""
        ? "A title is needed."
        : saving.isPending
          ? "It is being written."
          : undefined;
  return (
    <Dialog title={`Edit ${plain(ticket.id, 60)}`} close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (whyNot === undefined) saving.mutate();
        }}
      >
        <TextField
          label="Title"
          value={title}
          maxLength={200}
          autoFocus
          onChange={({ target }) => setTitle(target.value)}
        />
        <TextField
          label="Depends on"
          hint="Ids, separated by commas."
          value={dependsOn}
          maxLength={4000}
          onChange={({ target }) => setDependsOn(target.value)}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField label="Group" value={group} maxLength={60} onChange={({ target }) => setGroup(target.value)} />
          <TextField
            label="Priority"
            type="number"
            min={0}
            max={1_000_000}
            value={priority}
            onChange={({ target }) => setPriority(target.value)}
          />
        </div>
        <TextField
          label="Repository"
          hint="Nothing starts as long as it is TBD."
          value={repo}
          maxLength={200}
          onChange={({ target }) => setRepo(target.value)}
        />
        <p className="text-xs text-muted">The text below the head is edited in the file itself:</p>
        <CopyLine>{`passrail ticket edit ${ticket.id}`}</CopyLine>
        {saving.error !== null && <Failure error={saving.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{isConflict ? "Show what it says now" : "Not now"}</Button>
          <Button type="submit" look="primary" disabledBecause={whyNot}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
