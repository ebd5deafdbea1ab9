// The tickets of one group side by side: branch, status, changes, checks, verdicts and cost of each. CLI and API show the same.

import { attemptFiles } from "../../attempt/attempt-files.ts";
import type { CheckResult } from "../../core/flow/check-result.ts";
import type { Outcome } from "../../core/flow/outcome.ts";
import type { PlannedTicket } from "../../core/ticket/plan.ts";
import { statOfDiff } from "../../file/diff-stat.ts";
import { openPlain } from "../../file/plain-file.ts";
import type { AttemptRecord, Store } from "../../store/store.ts";

export type ComparedVariant = {
  readonly id: string;
  readonly title: string;
  readonly hint: string | null;
  readonly word: string;
  readonly state: PlannedTicket["state"];
  readonly branch: string;
  readonly newest: { readonly id: string; readonly number: number } | null;
  /** The last word of each stage, in the order in which they first came. */
  readonly verdicts: readonly { readonly stage: string; readonly verdict: string }[];
  /** The last results of Passrail's own checks, by name. */
  readonly checks: readonly { readonly name: string; readonly state: string }[];
  readonly changes: { readonly files: number; readonly added: number; readonly removed: number } | null;
  readonly cost: { readonly usd: number; readonly unknownUsd: number };
};

export type ComparePlace = { readonly store: Pick<Store, "listSubjects" | "attempts">; readonly home: string };

const SHOWN_AT_MOST = 12;

export function compareVariants(
  place: ComparePlace,
  group: readonly PlannedTicket[],
): Promise<readonly ComparedVariant[]> {
  return Promise.all(group.slice(0, SHOWN_AT_MOST).map((each) => variantOf(place, each)));
}

async function variantOf(
  { store, home }: ComparePlace,
  { ticket, state, branch }: PlannedTicket,
): Promise<ComparedVariant> {
  const [subject] = await store.listSubjects({ id: ticket.id, limit: 1 });
  const attempts = subject === undefined ? [] : await store.attempts(subject.newest.id);
  return {
    id: ticket.id,
    title: ticket.title,
    hint: ticket.variantHint,
    word: subject?.newest.word ?? ticket.status,
    state,
    branch,
    newest: subject === undefined ? null : { id: subject.newest.id, number: subject.newest.number },
    verdicts: verdictsOf(attempts),
    checks: checksOf(attempts),
    changes: await changesOf(home, attempts),
    cost: { usd: subject?.usd ?? 0, unknownUsd: subject?.unknownUsd ?? 0 },
  };
}

function verdictsOf(attempts: readonly AttemptRecord[]): ComparedVariant["verdicts"] {
  const last = new Map<string, string>();
  for (const { stage, outcome } of attempts) {
    const said = outcome as unknown as Outcome | null;
    const verdict = said?.word ?? said?.verdict ?? said?.health;
    if (verdict !== undefined && verdict !== null) last.set(stage, verdict);
  }
  return [...last].map(([stage, verdict]) => ({ stage, verdict }));
}

function checksOf(attempts: readonly AttemptRecord[]): ComparedVariant["checks"] {
  const last = new Map<string, string>();
  for (const { outcome } of attempts) {
    const checks = outcome?.["checks"];
    if (Array.isArray(checks)) for (const { name, state } of checks as unknown as CheckResult[]) last.set(name, state);
  }
  return [...last].map(([name, state]) => ({ name, state }));
}

/** Sums all attempts: each has its changes in a separate file. */
async function changesOf(home: string, attempts: readonly AttemptRecord[]): Promise<ComparedVariant["changes"]> {
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
