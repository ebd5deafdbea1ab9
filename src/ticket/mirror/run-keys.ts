// The keys of a ticket's file that describe its run. All other keys belong to the person.

import { attemptFacts } from "../../core/attempt-facts.ts";
import type { Json } from "../../core/json.ts";
import { lateText } from "../../core/run/outward.ts";
import { openItems, type Run } from "../../core/run/run.ts";
import { branchOf } from "../../core/run/branch.ts";
import type { AttemptRecord, Store } from "../../store/store.ts";
import type { MirrorKeys } from "../../core/ticket/mirror-step.ts";
import { optional } from "../../core/optional.ts";

const ERROR_CHARS = 500;

export async function runKeys(store: Store, run: Run): Promise<MirrorKeys> {
  const summary = (await store.findRuns(run.id)).find(({ id }) => id === run.id);
  const flow = await store.loadFlow(run.flowHash);
  const attempts = await store.attempts(run.id);
  const url = pullRequestOf(attempts);
  return {
    run: summary?.number ?? null,
    ...(flow === undefined ? {} : { branch: branchOf(flow.flow, run) }),
    last_error: troubleOf(run, attempts),
    ...optional({ pr_url: url }),
    conflict: null,
  };
}

/** Null without trouble, which removes an earlier error. */
function troubleOf(run: Run, attempts: readonly AttemptRecord[]): string | null {
  const late = lateText(run);
  if (late !== undefined) return late;
  const reason =
    run.status === "stopped"
      ? run.reason
      : openItems(run)
          .flatMap((item) => (item.kind === "escalation" ? [item.reason] : []))
          .at(0);
  if (reason === undefined) return null;
  const log = attempts.map(attemptFacts).findLast(({ output }) => output !== null)?.output;
  const said = reason.replaceAll(/\s+/gu, " ").trim().slice(0, ERROR_CHARS);
  return typeof log === "string" ? `${said} (log: ${log})` : said;
}

/** The pull request that the stage that landed the work recorded. */
function pullRequestOf(attempts: readonly AttemptRecord[]): string | undefined {
  return attempts
    .flatMap(({ outcome }) => {
      const payload = objectOf(outcome?.["payload"]);
      const landed = objectOf(payload["landed"]);
      return [landed["pr"], objectOf(landed["pr"])["url"], payload["pr_url"]];
    })
    .findLast((value) => typeof value === "string" && /^https?:\/\/[^\s]{1,500}$/u.test(value)) as string | undefined;
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json | undefined>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json | undefined>>)
    : {};
}
