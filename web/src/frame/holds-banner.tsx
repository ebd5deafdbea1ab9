// Programs that are over a limit of their vendor, on every page: why nothing starts, until when, and how a person says that one works again.

import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { holdsQuery, queryClient } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { clock } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";

type Hold = AnswerTo<"listHolds">["holds"][number];

export function HoldsBanner(): ReactNode {
  const { holds = [] } = useQuery(holdsQuery).data ?? {};
  if (holds.length === 0) return null;
  return (
    <section aria-label="Agents that are out">
      <ul className="flex flex-col">
        {holds.map((hold) => (
          <HeldProgram key={`${hold.runner} ${hold.account}`} hold={hold} />
        ))}
      </ul>
    </section>
  );
}

function HeldProgram({ hold }: { readonly hold: Hold }): ReactNode {
  const { runner, account, cause, text, until, waiting } = hold;
  const lifting = useMutation({
    mutationFn: () => call("liftHold", { body: { runner, account } }),
    onSuccess: ({ released }) => {
      toast(released === 1 ? "1 run may start now." : `${released} runs may start now.`);
      void queryClient.invalidateQueries();
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line bg-held-soft px-4 py-2 text-sm text-held md:px-6">
      <span className="min-w-0 break-words">
        <Icon name="hourglass" className="mr-1.5 inline" />
        <SafeText max={200}>{text}</SafeText>
        {account === "" ? "" : ` · ${account}`}
        {until === null ? "" : ` · until ${clock(until)}`}
        {waiting === 0 ? "" : waiting === 1 ? " · 1 run waits" : ` · ${waiting} runs wait`}
      </span>
      <Button disabledBecause={lifting.isPending ? "It is being done." : undefined} onClick={() => lifting.mutate()}>
        {cause === "limit_near" ? "Start freely" : "It works again"}
      </Button>
    </li>
  );
}
