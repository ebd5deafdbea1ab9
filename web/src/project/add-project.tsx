// The dialog that gives a folder of the daemon's machine a name.

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { toast } from "../ui/toast.ts";
import { useFields } from "../ui/use-fields.ts";

export function AddProject({
  folder: given,
  close,
}: {
  readonly folder: string;
  readonly close: () => void;
}): ReactNode {
  const [values, field] = useFields({ folder: given, name: "" });
  const folder = values.folder.trim();
  const name = values.name.trim();
  const adding = useMutation({
    mutationFn: () => call("addProject", { body: { folder, ...(name === "" ? {} : { name }) } }),
    onSuccess: (project) => {
      toast(`${project.name} is registered.`);
      void queryClient.invalidateQueries({ queryKey: ["projects"] });
      close();
    },
  });
  const whyNot =
    folder === ""
      ? "Enter the folder."
      : !folder.startsWith("/")
        ? "Enter the whole path, from / on."
        : adding.isPending
          ? "The project is being added."
          : undefined;
  return (
    <FormDialog
      title="Add a project"
      close={close}
      submit={() => adding.mutate()}
      action="Add"
      disabledBecause={whyNot}
      error={adding.error}
      command={`passrail projects add ${folder === "" ? "FOLDER" : shellWord(folder)}${name === "" ? "" : ` --name ${shellWord(name)}`}`}
    >
      <TextField
        label="Folder"
        hint="The whole path on the machine of the daemon."
        maxLength={4096}
        autoFocus
        spellCheck={false}
        {...field("folder")}
      />
      <TextField
        label="Name (optional)"
        hint="Letters, digits, dots, dashes and underscores. Without one: the folder's own name."
        maxLength={64}
        spellCheck={false}
        {...field("name")}
      />
    </FormDialog>
  );
}
