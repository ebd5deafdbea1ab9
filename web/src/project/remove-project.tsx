// The dialog that forgets a project's name. The folder and its runs stay.

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { toast } from "../ui/toast.ts";

export function RemoveProject({
  project: { name, folder },
  close,
}: {
  readonly project: { readonly name: string; readonly folder: string };
  readonly close: () => void;
}): ReactNode {
  const removing = useMutation({
    mutationFn: () => call("removeProject", { params: { name } }),
    onSuccess: () => {
      toast(`${name} is forgotten; its folder and its runs stay.`);
      void queryClient.invalidateQueries({ queryKey: ["projects"] });
      close();
    },
  });
  return (
    <FormDialog
      title={`Remove ${name}`}
      close={close}
      submit={() => removing.mutate()}
      action="Remove"
      look="danger"
      cancel="Keep it"
      disabledBecause={removing.isPending ? "The project is being removed." : undefined}
      error={removing.error}
      command={`passrail projects remove ${name}`}
    >
      <p className="text-sm [overflow-wrap:anywhere]">
        Passrail forgets the name. The folder{" "}
        <code className="font-mono text-xs">
          <SafeText max={400}>{folder}</SafeText>
        </code>{" "}
        and its runs stay as they are.
      </p>
    </FormDialog>
  );
}
