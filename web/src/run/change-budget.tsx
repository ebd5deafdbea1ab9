// Sets what the whole run may cost: more, so that it works on, or less, so that it stops earlier.

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { usd } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";
import { runCost, shortCount } from "./run-cost.ts";
import type { RunDetail } from "./types.ts";

export function ChangeBudget({ run, close }: { readonly run: RunDetail; readonly close: () => void }): ReactNode {
  const { limit } = run;
  const cost = runCost(run);
  const [dollars, setDollars] = useState(limit.usd === null ? "" : String(limit.usd));
  const [tokens, setTokens] = useState(limit.tokens === null ? "" : String(limit.tokens));
  const wanted = {
    ...(limit.usd === null ? {} : { usd: Number(dollars.replace(/^\$/u, "")) }),
    ...(limit.tokens === null ? {} : { tokens: Number(tokens.replaceAll(/[,_ ]/gu, "")) }),
  };
  const changing = useMutation({
    mutationFn: () => call("changeBudget", { params: { run: run.id }, body: wanted }),
    onSuccess: ({ limit: after }) => {
      toast(`#${run.number} may cost ${after.usd === null ? "any amount" : usd(after.usd)} in all.`);
      void queryClient.invalidateQueries({ queryKey: ["run"] });
      close();
    },
  });
  const isSound = Object.values(wanted).every((amount) => Number.isFinite(amount) && amount > 0);
  const isSame = (wanted.usd ?? null) === limit.usd && (wanted.tokens ?? null) === limit.tokens;
  const flags = [
    ...(wanted.usd === undefined ? [] : [`--usd ${wanted.usd}`]),
    ...(wanted.tokens === undefined ? [] : [`--tokens ${wanted.tokens}`]),
  ];
  return (
    <FormDialog
      title={`Budget of #${run.number}`}
      close={close}
      submit={() => changing.mutate()}
      action="Set the budget"
      disabledBecause={
        changing.isPending
          ? "It is being done."
          : isSame
            ? "It is so already."
            : isSound
              ? undefined
              : "An amount above 0, please."
      }
      error={changing.error}
      command={`passrail runs budget ${run.number} ${flags.join(" ")}`}
    >
      <p className="text-sm">
        {cost.isUnknown && cost.tokens === 0
          ? "No agent has reported a cost yet."
          : `So far ${cost.isUnknown ? "an unknown amount" : usd(cost.usd)} and ${shortCount(cost.tokens)} tokens.`}{" "}
        With less than that the agent at work stops; with more, a run that waits for its budget tries again.
      </p>
      {limit.usd !== null && (
        <TextField
          label="Dollars, for the whole run"
          inputMode="decimal"
          autoFocus
          maxLength={20}
          value={dollars}
          onChange={({ target }) => setDollars(target.value)}
        />
      )}
      {limit.tokens !== null && (
        <TextField
          label="Tokens, for the whole run"
          inputMode="numeric"
          maxLength={20}
          value={tokens}
          onChange={({ target }) => setTokens(target.value)}
        />
      )}
    </FormDialog>
  );
}
