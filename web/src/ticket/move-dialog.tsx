// The move menu of a ticket: the moves that are possible now, and why the others are not. It needs no dragging.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { actsQuery, itemQuery } from "../base/queries.ts";
import { choicesOf } from "../inbox/words.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { runOfTicket, ticketMoves } from "../../../src/http/contract/ticket-moves.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { toast } from "../ui/toast.ts";
import type { ListedTicket } from "./listed-ticket.ts";
import { make, type Move, wordsOf } from "./move.ts";

type Props = {
  readonly ticket: ListedTicket;
  /** The move that a button on the card has chosen. */
  readonly first?: Move | undefined;
  readonly close: () => void;
};

export function MoveDialog({ ticket, first, close }: Props): ReactNode {
  const [chosen, setChosen] = useState<Move | undefined>(first);
  const title = `${chosen === undefined ? "Move" : wordsOf(chosen).name}: ${plain(ticket.title, 80)}`;
  return (
    <Dialog title={title} close={close}>
      {chosen === undefined ? (
        <Menu ticket={ticket} choose={setChosen} />
      ) : (
        <Confirm ticket={ticket} move={chosen} back={() => setChosen(undefined)} close={close} />
      )}
    </Dialog>
  );
}

function Menu({ ticket, choose }: { readonly ticket: ListedTicket; readonly choose: (move: Move) => void }): ReactNode {
  const { data, error, refetch } = useQuery({
    ...actsQuery(ticket.newest?.id ?? ""),
    enabled: ticket.newest !== null,
  });
  const words = ticket.file === null ? [] : ticketMoves(ticket.id, ticket.file.status, runOfTicket(ticket.status));
  const answers = ticket.waits.flatMap((item) =>
    choicesOf({ ...item, leads: [] }).map((choice): Move => ({ kind: "answer", item: item.id, choice })),
  );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined && ticket.newest !== null) return <Loading what="moves" />;
  const acts = data?.acts ?? [];
  const moves: readonly Move[] = [
    ...answers,
    ...acts.flatMap(({ act, stage, why }): Move[] => (why === null ? [{ kind: "act", act, stage }] : [])),
    ...words.flatMap(({ to, why }): Move[] => (why === null ? [{ kind: "status", to }] : [])),
  ];
  const not = [
    ...acts.map(({ act, stage, why }) => ({ name: wordsOf({ kind: "act", act, stage }).name, why })),
    ...words.map(({ to, why }) => ({ name: wordsOf({ kind: "status", to }).name, why })),
  ].filter(({ why }) => why !== null);
  return (
    <div className="flex flex-col gap-4 text-sm">
      <ul className="flex flex-col gap-1.5">
        {moves.map((move, index) => {
          const { name, isDangerous } = wordsOf(move);
          return (
            <li key={`${move.kind} ${name}`}>
              <Button
                autoFocus={index === 0}
                look={isDangerous ? "danger" : "plain"}
                className="w-full"
                onClick={() => choose(move)}
              >
                {plain(name, 100)}
              </Button>
            </li>
          );
        })}
        {ticket.waits
          .filter(({ answers: offered }) => offered.length === 0)
          .map(({ id, stage }) => (
            <li key={id}>
              <Link to="/g/$item" params={{ item: id }}>
                Answer the question at {plain(stage, 60)}
              </Link>
            </li>
          ))}
      </ul>
      {not.length > 0 && (
        <section>
          <h3 className="mb-1 text-xs font-semibold text-muted">Not possible now</h3>
          <ul className="flex flex-col gap-1 text-muted">
            {not.map(({ name, why }) => (
              <li key={name}>
                <span className="font-medium">{plain(name, 100)}</span>: <SafeText max={300}>{why ?? ""}</SafeText>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Confirm({
  ticket,
  move,
  back,
  close,
}: {
  readonly ticket: ListedTicket;
  readonly move: Move;
  readonly back: () => void;
  readonly close: () => void;
}): ReactNode {
  const { name, about, asks, mustSay, isDangerous } = wordsOf(move);
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // The ticket when the move was chosen; the board behind it may load a newer one.
  const [seen] = useState(ticket);
  const field = useId();
  const item = useQuery({
    ...itemQuery(move.kind === "answer" ? move.item : ""),
    enabled: move.kind === "answer",
  });
  const isUnseen = move.kind === "answer" && item.data === undefined;
  const whyNot =
    mustSay && text.trim() === ""
      ? "Enter a reason first."
      : isUnseen
        ? "The item is still loading."
        : isBusy
          ? "The move is being made."
          : undefined;
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await make(move, seen, text, item.data?.version);
      toast(`${name}: done`);
      close();
    } catch (cause) {
      setError(cause);
      setBusy(false);
      void item.refetch();
    }
  };
  return (
    <form
      className="flex flex-col gap-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (whyNot === undefined) void act();
      }}
    >
      {move.kind === "answer" && <Asked item={move.item} asks={item.data?.asks ?? []} />}
      {about !== "" && <p className="text-muted">{about}</p>}
      {asks !== "" && (
        <label htmlFor={field} className="flex flex-col gap-1 font-medium">
          {asks}
          <textarea
            id={field}
            rows={3}
            maxLength={10_000}
            autoFocus
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="rounded-md border border-line bg-page px-3 py-2 font-normal"
          />
        </label>
      )}
      {(error ?? item.error) != null && <Failure error={error ?? item.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={back}>Back</Button>
        <Button type="submit" look={isDangerous ? "danger" : "primary"} disabledBecause={whyNot}>
          {plain(name, 100)}
        </Button>
      </div>
    </form>
  );
}

function Asked({ item, asks }: { readonly item: string; readonly asks: readonly string[] }): ReactNode {
  return (
    <div className="flex flex-col gap-1">
      {asks.slice(0, 5).map((line) => (
        <p key={line} className="line-clamp-3">
          <SafeText max={1000}>{line}</SafeText>
        </p>
      ))}
      <Link to="/g/$item" params={{ item }}>
        Look at the evidence first
      </Link>
    </div>
  );
}
