// The state of a ticket, the reason, and the next step.

import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { runOfTicket } from "../../../src/http/contract/ticket-moves.ts";
import { call } from "../base/api.ts";
import { whoQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.ts";
import { BlockedBy } from "./blocked-by.tsx";
import { askAgain } from "./queries.ts";
import { nextStep } from "./next-step.ts";
import { ProblemList } from "./problems.tsx";
import { Icon } from "../ui/icon.tsx";

type Detail = AnswerTo<"showTicket">;
type File = NonNullable<Detail["file"]>;

export function TicketStanding({ ticket, file }: { readonly ticket: Detail; readonly file: File }): ReactNode {
  const step = nextStep(ticket, file);
  return (
    <>
      {file.conflict !== null && <Conflict ticket={ticket} file={file} said={file.conflict} />}
      {file.problems.length > 0 && (
        <section aria-label="Problems in the file" className="rounded-lg border border-bad">
          <ProblemList problems={file.problems} />
        </section>
      )}
      <Panel title="State">
        <div className="flex flex-col gap-2 text-sm">
          {file.blockedBy.length > 0 ? (
            <BlockedBy file={file} />
          ) : (
            <p>
              <SafeText max={600}>{ticket.why ?? file.why}</SafeText>
            </p>
          )}
          {file.conflict === null && <p className="text-muted">{step.text}</p>}
          {file.state === "eligible" && <StartNow id={ticket.id} />}
          {step.command !== null && <CopyLine>{step.command}</CopyLine>}
          {ticket.explain.length > 0 && (
            <details>
              <summary className="min-h-9 cursor-pointer py-1.5 font-medium pointer-coarse:min-h-11">
                All details
              </summary>
              <ul className="list-disc pl-5 text-muted">
                {ticket.explain.map((line) => (
                  <li key={line} className="break-words">
                    <SafeText max={600}>{line}</SafeText>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </div>
      </Panel>
    </>
  );
}

/** Starts the ticket before its turn, if a slot is free. */
function StartNow({ id }: { readonly id: string }): ReactNode {
  const who = useQuery(whoQuery).data;
  const starting = useMutation({
    mutationFn: () => call("startTicket", { params: { ticket: id }, body: {} }),
    onSuccess: ({ run, started }) => {
      toast(started ? `Run #${run.number} started.` : `Run #${run.number} already works on it.`);
      void askAgain(id);
    },
  });
  const whyNot =
    who !== undefined && !who.scopes.includes("operate")
      ? "Your token can only read."
      : starting.isPending
        ? "The ticket is starting."
        : undefined;
  return (
    <div className="flex flex-col items-start gap-2">
      <Button look="primary" onClick={() => starting.mutate()} disabledBecause={whyNot}>
        Start now
      </Button>
      {starting.error !== null && <Failure error={starting.error} />}
    </div>
  );
}

/** The file and the run have different statuses. Passrail overwrites neither before a person decides. */
function Conflict({
  ticket,
  file,
  said,
}: {
  readonly ticket: Detail;
  readonly file: File;
  readonly said: string;
}): ReactNode {
  const goesOn = runOfTicket(ticket.status) !== "none";
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-lg border border-warning bg-warning-soft p-4 text-sm">
      <p className="font-medium text-warning">
        <Icon name="warning" className="mr-1 inline" />
        The file and the run disagree
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <dt>The file says</dt>
        <dd className="font-medium">
          <SafeText max={80}>{file.status}</SafeText>
        </dd>
        {goesOn && (
          <>
            <dt>Its run says</dt>
            <dd className="font-medium">
              <SafeText max={80}>{ticket.word}</SafeText>
            </dd>
          </>
        )}
      </dl>
      <p className="text-muted">
        <SafeText max={300}>{said}</SafeText>
      </p>
      <p>
        Passrail overwrote nothing. When the run ends, the status in the file counts. To apply it sooner,{" "}
        {!goesOn || ticket.newest === null ? (
          "move the ticket."
        ) : (
          <>
            cancel or pause{" "}
            <Link to="/runs/$run" params={{ run: String(ticket.newest.number) }}>
              run #{ticket.newest.number}
            </Link>
            . To keep the status of the run, write {plain(ticket.word, 60)} back into the file.
          </>
        )}
      </p>
    </div>
  );
}
