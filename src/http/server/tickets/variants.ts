// The tickets of one group side by side: status, verdicts, changes and cost of each.

import type { z } from "zod";
import type { ticketSchema } from "../../contract/schemas/ticket.ts";
import type { Outcome } from "../../../core/flow/outcome.ts";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import type { AttemptRecord } from "../../../store/store.ts";
import { openPlain } from "../attempt-file.ts";
import { statOfDiff } from "../diff-stat.ts";
import type { ServerDeps } from "../deps.ts";
import type { TicketsNow } from "../project-tickets.ts";

type Variant = z.input<typeof ticketSchema>["variants"][number];
type Deps = Pick<ServerDeps, "store" | "home">;

const SHOWN_AT_MOST = 12;

export async function variantsOf(deps: Deps, { ticket }: PlannedTicket, now: TicketsNow): Promise<Variant[]> {
  if (ticket.group === null) return [];
  const group = now.newestFirst.filter((other) => other.ticket.group === ticket.group).toReversed();
  if (group.length < 2) return [];
  return Promise.all(group.slice(0, SHOWN_AT_MOST).map((each) => variantOf(deps, each)));
}

async function variantOf({ store, home }: Deps, { ticket, state }: PlannedTicket): Promise<Variant> {
  const [subject] = await store.listSubjects({ id: ticket.id, limit: 1 });
  const attempts = subject === undefined ? [] : await store.attempts(subject.newest.id);
  return {
    id: ticket.id,
    title: ticket.title,
    hint: ticket.variantHint,
    word: subject?.newest.word ?? ticket.status,
    state,
    newest: subject === undefined ? null : { id: subject.newest.id, number: subject.newest.number },
    verdicts: verdictsOf(attempts),
    changes: await changesOf(home, attempts),
    cost: { usd: subject?.usd ?? 0, unknownUsd: subject?.unknownUsd ?? 0 },
  };
}

/** The last word of each stage, in the order in which they first came. */
function verdictsOf(attempts: readonly AttemptRecord[]): Variant["verdicts"] {
  const last = new Map<string, string>();
  for (const { stage, outcome } of attempts) {
    const said = outcome as unknown as Outcome | null;
    const verdict = said?.word ?? said?.verdict ?? said?.health;
    if (verdict !== undefined && verdict !== null) last.set(stage, verdict);
  }
  return [...last].map(([stage, verdict]) => ({ stage, verdict }));
}

/** Sums all attempts: each has its changes in a separate file. */
async function changesOf(home: string, attempts: readonly AttemptRecord[]): Promise<Variant["changes"]> {
  const paths = new Set<string>();
  let [added, removed] = [0, 0];
  for (const { runId, stage, attempt } of attempts) {
    const files = attemptFiles(home, runId, stage, attempt);
    const opened = await openPlain(files.dir, files.diff);
    if (opened === undefined) continue;
    try {
      const stat = await statOfDiff(opened.handle);
      for (const { path } of stat.files) paths.add(path);
      added += stat.added;
      removed += stat.removed;
    } finally {
      await opened.handle.close();
    }
  }
  return paths.size === 0 ? null : { files: paths.size, added, removed };
}
