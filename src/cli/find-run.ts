// Which run or inbox item a person means: an id, the beginning of one, or a number; one meaning or an error that lists the choices.

import type { RunEvent } from "../core/run/event.ts";
import { type InboxItem, openItems, type Run } from "../core/run/run.ts";
import type { Passrail } from "../compose.ts";
import { CliError, EXIT, usageError } from "./errors.ts";

export type Store = Passrail["store"];
export type RunSummary = Awaited<ReturnType<Store["listRuns"]>>[number];
export type StoredEvent = Awaited<ReturnType<Store["events"]>>[number];
export type AttemptRecord = Awaited<ReturnType<Store["attempts"]>>[number];

export type FoundRun = { readonly summary: RunSummary; readonly run: Run };

const LISTED = 10;
const HINT = "passrail runs list shows them all";

/** `12`, `#12`, `r0a1b…` or the beginning of an id. */
export async function requireRun(store: Store | undefined, reference: string): Promise<FoundRun> {
  const text = reference.trim();
  if (text === "" || text === "#")
    throw usageError("run_missing", "Name a run: its number, its id or the beginning of it.", HINT);
  const matches = store === undefined ? [] : await matchesOf(store, text);
  const [summary, ...others] = matches;
  if (store === undefined || summary === undefined) {
    throw new CliError("run_not_found", `There is no run ${text}.`, HINT);
  }
  if (others.length > 0) {
    const lines = matches.map(({ id, number, subject }) => `#${number} ${id}  ${subject.title.slice(0, 60)}`);
    throw usageError("run_ambiguous", `${text} could be ${matches.length} runs:`, lines.join("\n"));
  }
  const stored = await store.loadRun(summary.id);
  if (stored === undefined) throw new CliError("run_not_found", `There is no run ${text}.`, HINT);
  return { summary, run: stored.run };
}

/** A number is exact; only ids may be cut short. */
async function matchesOf(store: Store, text: string): Promise<readonly RunSummary[]> {
  const number = /^#?([0-9]{1,10})$/u.exec(text)?.[1];
  if (number !== undefined) return (await store.findRuns(number)).filter((run) => run.number === Number(number));
  const found = await store.findRuns(text);
  const exact = found.filter(({ id }) => id === text);
  return exact.length > 0 ? exact : found;
}

/** The kinds that a verb answers, in its words. */
export type Kind = "gate" | "question" | "escalation" | "budget";

export type FoundItem =
  | (FoundRun & { readonly type: "open"; readonly item: InboxItem })
  /** Not open any more, or never was: what was answered before, if anything. */
  | (FoundRun & {
      readonly type: "closed";
      readonly number: number | null;
      readonly answered: AnsweredEvent | undefined;
    });

export type AnsweredEvent = Extract<
  RunEvent,
  | { type: "gate.answered" }
  | { type: "question.answered" }
  | { type: "escalation.resolved" }
  | { type: "budget.answered" }
>;

/** `<run>.<n>`, a run with one open item of that kind, or nothing where only one is open in the whole store. */
export async function findItem(
  store: Store | undefined,
  reference: string | undefined,
  kind: Kind,
): Promise<FoundItem> {
  if (reference === undefined) return onlyOpen(store, kind);
  const dot = reference.lastIndexOf(".");
  const number = dot === -1 ? undefined : /^[1-9][0-9]{0,5}$/u.exec(reference.slice(dot + 1))?.[0];
  const found = await requireRun(store, number === undefined ? reference : reference.slice(0, dot));
  const open = openItems(found.run).filter((item) => fits(item, kind));
  const wanted = number === undefined ? open : open.filter((item) => item.number === Number(number));
  const [item, ...others] = wanted;
  if (item !== undefined && others.length === 0) return { ...found, type: "open", item };
  if (others.length > 0)
    throw several(
      wanted.map((each) => describeItem(found.summary.number, each)),
      kind,
    );
  const answers = await answersOf(store as Store, found.run.id, kind);
  const answered = number === undefined ? answers.at(-1) : answers.find((event) => event.number === Number(number));
  return {
    ...found,
    type: "closed",
    number: number === undefined ? (answered?.number ?? null) : Number(number),
    answered,
  };
}

async function onlyOpen(store: Store | undefined, kind: Kind): Promise<FoundItem> {
  const records = store === undefined ? [] : (await store.inbox()).filter(({ item }) => fits(item, kind));
  const [record, ...others] = records;
  if (store === undefined || record === undefined) {
    throw new CliError(`${kind}_not_waiting`, `No ${kind} is open.`, "passrail inbox shows what waits for you");
  }
  if (others.length > 0) {
    const lines = await Promise.all(
      records.slice(0, LISTED).map(async ({ runId, item }) => {
        const [summary] = await store.findRuns(runId);
        return describeItem(summary?.number ?? 0, item);
      }),
    );
    throw several(lines, kind);
  }
  return { ...(await requireRun(store, record.runId)), type: "open", item: record.item };
}

function several(lines: readonly string[], kind: Kind): CliError {
  return new CliError(
    "item_ambiguous",
    `Several items of kind ${kind} are open; name one:`,
    lines.join("\n"),
    EXIT.usage,
  );
}

function describeItem(number: number, item: InboxItem): string {
  return `${number}.${item.number}  ${item.kind} ${item.stage}`;
}

/** A choice is a question with a list of answers, and is answered by the same verb. */
function fits(item: InboxItem, kind: Kind): boolean {
  return item.kind === kind || (kind === "question" && item.kind === "choice");
}

const ANSWERED_BY = {
  gate: "gate.answered",
  question: "question.answered",
  escalation: "escalation.resolved",
  budget: "budget.answered",
} as const;

async function answersOf(store: Store, runId: string, kind: Kind): Promise<readonly AnsweredEvent[]> {
  const answers: AnsweredEvent[] = [];
  for await (const { event } of eventsOf(store, runId)) {
    if (event.type === ANSWERED_BY[kind]) answers.push(event);
  }
  return answers;
}

/** The history of one run, page by page. */
export async function* eventsOf(store: Store, runId: string, after: number = 0): AsyncGenerator<StoredEvent> {
  let last = after;
  for (;;) {
    const page = await store.events({ after: last, runId, limit: 500 });
    yield* page;
    last = page.at(-1)?.seq ?? last;
    if (page.length < 500) return;
  }
}
