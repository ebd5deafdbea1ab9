// The columns of the list of work.

import type { DataColumn } from "../ui/data-table.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago, duration } from "../ui/time.tsx";
import { hasEnded } from "../ticket/listed-ticket.ts";
import { costText } from "../ticket/ticket-facts.ts";
import type { WorkItem } from "./item.ts";
import { State, Title } from "./row.tsx";

/** `lines`: the last words of the agents at work, by run. */
export function workColumns(lines: ReadonlyMap<string, string>, now: number): readonly DataColumn<WorkItem>[] {
  return [
    {
      key: "title",
      name: "Work",
      width: "minmax(14rem,2.2fr)",
      cell: (item) => <Title item={item} />,
    },
    {
      key: "state",
      name: "State",
      width: "minmax(13rem,2fr)",
      cell: (item) => <State item={item} line={lines.get(item.ticket.newest?.id ?? "")} now={now} />,
    },
    {
      key: "flow",
      name: "Flow",
      width: "minmax(4rem,7rem)",
      cell: ({ ticket }) => <Quiet text={ticket.flow} />,
    },
    {
      key: "word",
      name: "The flow's word",
      width: "minmax(5rem,9rem)",
      cell: ({ ticket }) => <Quiet text={ticket.word} />,
    },
    {
      key: "agent",
      name: "Agent",
      width: "minmax(4rem,6rem)",
      cell: ({ ticket }) => <Quiet text={ticket.agent ?? "—"} />,
    },
    {
      key: "cost",
      name: "Cost",
      width: "4.5rem",
      isEnd: true,
      cell: ({ ticket }) => <Quiet text={ticket.newest === null ? "" : costText(ticket.cost)} />,
    },
    {
      key: "age",
      name: "Age",
      width: "4.5rem",
      isEnd: true,
      cell: ({ ticket }) => (
        <Quiet
          text={
            ticket.createdAt === null || hasEnded(ticket)
              ? ""
              : duration(Math.max(0, now - Date.parse(ticket.createdAt)))
          }
        />
      ),
    },
    {
      key: "active",
      name: "Last activity",
      width: "6.5rem",
      isEnd: true,
      cell: ({ ticket }) =>
        ticket.activeAt === null ? null : (
          <span className="text-muted">
            <Ago at={ticket.activeAt} />
          </span>
        ),
    },
  ];
}

function Quiet({ text }: { readonly text: string }) {
  return (
    <span className="text-muted">
      <SafeText max={80}>{text}</SafeText>
    </span>
  );
}
