// Finds the run or inbox item that a person typed. Anything but exactly one match is an error that lists the candidates.

import { type ClosedItem, pastItems } from "../app/find-item.ts";
import { findRun, type FoundRun } from "../app/find-run.ts";
import { type InboxItem, openItems } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import { CliError, EXIT, problemError } from "./errors.ts";

const LISTED = 10;
const HINT = "passrail runs list shows them all";

/** `12`, `#12`, `r0a1b…` or the beginning of an id. */
export async function requireRun(store: Store | undefined, reference: string): Promise<FoundRun> {
  const found = await findRun(store, reference);
  if (found.ok) return found.value;
  const { hint = HINT, code } = found.error;
  throw problemError({ ...found.error, hint }, code === "run_not_found" ? EXIT.error : EXIT.usage);
}

/** The kinds of items, in the words of the command line: a choice is a question with a list of answers. */
export type AnsweredKind = "gate" | "question" | "escalation" | "budget";

export type ChosenItem =
  | (FoundRun & { readonly type: "open"; readonly item: InboxItem })
  | (FoundRun & { readonly type: "closed"; readonly item: ClosedItem })
  /** The run has never had such an item. `number` is the one that was asked for. */
  | (FoundRun & { readonly type: "none"; readonly number: number | null });

/** `<run>.<n>`, a run with one open item of that kind, or nothing where only one is open in the whole store. */
export async function chooseItem(
  store: Store | undefined,
  reference: string | undefined,
  kind: AnsweredKind,
): Promise<ChosenItem> {
  if (reference === undefined) return onlyOpen(store, kind);
  const dot = reference.lastIndexOf(".");
  const digits = dot === -1 ? undefined : /^[1-9][0-9]{0,5}$/u.exec(reference.slice(dot + 1))?.[0];
  const number = digits === undefined ? null : Number(digits);
  const found = await requireRun(store, number === null ? reference : reference.slice(0, dot));
  const isWanted = (item: Pick<InboxItem, "kind" | "number">): boolean =>
    fits(item, kind) && (number === null || item.number === number);
  const wanted = openItems(found.run).filter(isWanted);
  const [item, ...others] = wanted;
  if (others.length > 0)
    throw several(
      wanted.map((each) => describeItem(found.summary.number, each)),
      kind,
    );
  if (item !== undefined) return { ...found, type: "open", item };
  const past = store === undefined ? [] : await pastItems(store, found.run.id);
  const closed = past.findLast((each) => isWanted(each) && (number !== null || each.decided !== null));
  return closed === undefined ? { ...found, type: "none", number } : { ...found, type: "closed", item: closed };
}

async function onlyOpen(store: Store | undefined, kind: AnsweredKind): Promise<ChosenItem> {
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

function several(lines: readonly string[], kind: AnsweredKind): CliError {
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

function fits(item: Pick<InboxItem, "kind">, kind: AnsweredKind): boolean {
  return item.kind === kind || (kind === "question" && item.kind === "choice");
}
