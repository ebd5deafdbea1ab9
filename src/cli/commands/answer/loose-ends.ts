// The loose ends of the inbox on the command line: read for the folder of the command, shown with the commands that settle them.

import { commitOf } from "../../../app/commit-of.ts";
import { createLooseEnds, type LooseEndsNow } from "../../../app/loose-ends.ts";
import type { LooseEnd } from "../../../core/view/loose-end.ts";
import type { Store } from "../../../store/store.ts";
import { readRefused } from "../../../ticket/pick/refused-board.ts";
import { readTickets, type Tickets } from "../ticket/read-tickets.ts";
import { CliError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { placeOf } from "../../trust.ts";
import { optional } from "../../../core/optional.ts";

export async function looseEndsOf(io: Io, store: Store | undefined): Promise<LooseEndsNow> {
  const look = createLooseEnds({
    ...placeOf(io),
    ...optional({ store }),
    commitOf: async (run) => (store === undefined ? null : commitOf(store, run)),
    tickets: () => ticketsOf(io),
    refused: () => readRefused({ home: io.home, project: io.cwd }),
  });
  const until = performance.now() + LOOKS_MS;
  for (;;) {
    const now = await look();
    if (now.unseen === 0 || performance.now() > until) return now;
  }
}

/** Many completed runs are looked at in slices; a command does not go through years of them. */
const LOOKS_MS = 2000;

/** Empty if all were looked at. */
export function unseenLine(unseen: number): string {
  const runs = unseen === 1 ? "older completed run was" : "older completed runs were";
  return unseen === 0 ? "" : `${unseen} ${runs} not looked at for unmerged work; a daemon (passrail up) looks at all.`;
}

export async function ticketsOf(io: Io): Promise<Tickets | undefined> {
  try {
    return await readTickets(io);
  } catch (error) {
    // Every command that needs unreadable settings reports them; the inbox still shows the rest.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

export function looseEndLines(io: Io, { kind, title, text, since, run, ticket, verbs }: LooseEnd): readonly string[] {
  const what = run === null ? (ticket ?? "") : `#${run.number}`;
  const head = what === "" || title.startsWith(what) ? title : `${what}  ${title}`;
  const wide = Math.max(...verbs.map(({ command }) => command.length));
  return [
    paint(io, "bold", oneLine(head, io.columns)),
    paint(io, "dim", oneLine(since === null ? kind : `${kind} · ${age(since)}`, io.columns)),
    oneLine(text, Math.max(400, io.columns)),
    ...verbs.map(({ verb, command }) => `  ${plainText(command.padEnd(wide))}  ${paint(io, "dim", verb)}`),
  ];
}

/** In the columns of `inbox --plain`: the stage, the person and the flow stay empty. */
export function looseEndCells({ id, kind, title, text, since, run }: LooseEnd): readonly string[] {
  return [id, run === null ? "" : `#${run.number}`, kind, "", "", "", since ?? "", title, text];
}

export function looseEndJson({ id, kind, title, text, since, run, ticket, verbs }: LooseEnd) {
  return { id, kind, title, text, since, run, ticket, verbs };
}
