// Choosing one variant: shows the effect on the others, asks once, and reports the result.

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { plain } from "../base/plain-text.ts";
import { queryClient } from "../base/queries.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { toast } from "../ui/toast.ts";
import { chosenText, fateOf } from "./variant-words.ts";

export type Variant = AnswerTo<"showTicket">["variants"][number];

type Props = { readonly variant: Variant; readonly all: readonly Variant[]; readonly close: () => void };

export function ChooseVariant({ variant, all, close }: Props): ReactNode {
  const { id, title, choice } = variant;
  const choosing = useMutation({
    mutationFn: () => call("chooseTicket", { params: { ticket: id }, body: {} }),
    onSuccess: (done) => {
      toast(chosenText(done));
      close();
    },
    // Also after a failure: some of them may be canceled already.
    onSettled: () =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [kind] }) => kind === "ticket" || kind === "tickets" || kind === "inbox",
      }),
  });
  const canceled = choice.cancels.map((other) => all.find((each) => each.id === other) ?? { id: other });
  const count = choice.cancels.length;
  return (
    <FormDialog
      title={`Choose ${plain(id, 40)}: ${plain(title, 80)}`}
      close={close}
      submit={() => choosing.mutate()}
      action={`Choose it and cancel ${count === 1 ? "the other" : `the other ${count}`}`}
      disabledBecause={choosing.isPending ? "The others are being canceled." : undefined}
      error={choosing.error}
      command={`passrail ticket choose ${plain(id, 80)}`}
    >
      <p className="text-sm">
        <SafeText max={40}>{id}</SafeText> stays as it is.{" "}
        {count === 1 ? "This ticket becomes" : "These tickets become"} Canceled:
      </p>
      <ul className="flex flex-col gap-1.5 text-sm">
        {canceled.map((each) => (
          <li key={each.id} className="rounded-md bg-sunken px-2.5 py-1.5">
            <span className="font-mono text-xs">
              <SafeText max={40}>{each.id}</SafeText>
            </span>
            {"title" in each && (
              <>
                {" "}
                <SafeText max={200}>{each.title}</SafeText>
                <span className="block text-xs text-muted">
                  <SafeText max={400}>{fateOf(each)}</SafeText>
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
    </FormDialog>
  );
}
