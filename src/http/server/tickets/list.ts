// One page of tickets: first those that have a file, by number, then those that only have runs, by their newest run. The cursor says in
// which of the two the page ended (`f12`: files below number 12; `12`: runs below number 12), so that pages stay the same while others are
// added.

import type { QueryOf } from "../../contract/route.ts";
import type { ROUTES } from "../../contract/routes.ts";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import type { SubjectRecord } from "../../../store/store.ts";
import type { TicketsNow } from "../project-tickets.ts";
import { type RunDeps, runsOfTicket } from "./own-runs.ts";
import { optional } from "../../../core/optional.ts";

type Query = QueryOf<typeof ROUTES.listTickets>;
/** At least one of the two is set. */
export type Listed = { readonly file: PlannedTicket | undefined; readonly runs: SubjectRecord | undefined };
export type Page = { readonly rows: readonly Listed[]; readonly next: string | null };

const RUNS_AT_ONCE = 200;
/** Maximum number of runs read for tickets without a file; then the page is shorter and has a cursor to continue. */
const LOOKED_AT_MOST = 2000;

type Deps = RunDeps & { readonly now: TicketsNow | undefined };

export async function listTickets(deps: Deps, query: Query): Promise<Page> {
  const { now } = deps;
  const { before, limit } = query;
  const rows: Listed[] = [];
  if (now !== undefined && (before === undefined || before.startsWith("f"))) {
    const below = before === undefined ? Number.POSITIVE_INFINITY : Number(before.slice(1));
    const fits = fileFilter(deps, now, query);
    for (const file of now.newestFirst) {
      if (file.ticket.number >= below || !fits(file)) continue;
      if (rows.length === limit) {
        const last = rows.at(-1)?.file?.ticket.number ?? 0;
        return { rows: await withRuns(deps, rows), next: `f${last}` };
      }
      rows.push({ file, runs: undefined });
    }
  }
  const files = await withRuns(deps, rows);
  // Only files have these.
  if (query.state !== undefined || query.request !== undefined || query.group !== undefined)
    return { rows: files, next: null };
  const after = before === undefined || before.startsWith("f") ? undefined : Number(before);
  const rest = await runsOnly(deps, query, after, limit - rows.length);
  return { rows: [...files, ...rest.rows], next: rest.next };
}

/** The runs of the shown tickets only. */
async function withRuns(deps: Deps, rows: readonly Listed[]): Promise<readonly Listed[]> {
  return Promise.all(
    rows.map(async ({ file }) => ({
      file,
      runs: file === undefined ? undefined : await runsOfTicket(deps, file.ticket.id, file),
    })),
  );
}

function fileFilter({ tickets }: Deps, { busy }: TicketsNow, query: Query): (file: PlannedTicket) => boolean {
  const text = query.q?.trim().toLowerCase();
  return ({ ticket, state }) => {
    if (query.flow !== undefined && query.flow !== (ticket.flow ?? tickets?.flow)) return false;
    if (query.state !== undefined && query.state !== state) return false;
    if (query.request !== undefined && query.request !== ticket.request) return false;
    if (query.group !== undefined && query.group !== ticket.group) return false;
    if (query.status !== undefined && query.status !== ticket.status) return false;
    if (query.open !== undefined && (query.open === "true") !== (state !== "ended" || busy.has(ticket.id)))
      return false;
    return text === undefined || hasText(text, ticket.id, ticket.title);
  };
}

async function runsOnly({ store, now }: Deps, query: Query, after: number | undefined, room: number): Promise<Page> {
  const { flow, open, status } = query;
  const text = query.q?.trim().toLowerCase();
  const rows: Listed[] = [];
  let before = after;
  for (let looked = 0; ; ) {
    const found = await store.listSubjects({
      // One extra row shows whether there is a next page.
      limit: Math.min(RUNS_AT_ONCE, isPlain(query, now) ? room - rows.length + 1 : RUNS_AT_ONCE),
      ...optional({ flow }),
      ...(open === undefined ? {} : { open: open === "true" }),
      ...optional({ before }),
    });
    if (found.length === 0) return { rows, next: null };
    for (const runs of found) {
      const { subject, word, number } = runs.newest;
      const hasFile = now?.plan.tickets.has(subject.id) === true;
      const isWanted =
        !hasFile &&
        (status === undefined || status === word) &&
        (text === undefined || hasText(text, subject.id, subject.title));
      if (isWanted) {
        if (rows.length === room) return { rows, next: String(before ?? number + 1) };
        rows.push({ file: undefined, runs });
      }
      before = number;
    }
    looked += found.length;
    if (looked >= LOOKED_AT_MOST) return { rows, next: String(before) };
  }
}

/** Every run that is read is shown. */
function isPlain({ q, status }: Query, now: TicketsNow | undefined): boolean {
  return q === undefined && status === undefined && (now === undefined || now.newestFirst.length === 0);
}

function hasText(text: string, id: string, title: string): boolean {
  return id.toLowerCase().includes(text) || title.toLowerCase().includes(text);
}
