// Activity of agents: one attempt in parts, and a search over all attempts of a run.

import { attemptFacts } from "../../../core/attempt-facts.ts";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import type { ActivityEvent } from "../../../core/view/activity-event.ts";
import { err, ok } from "../../../core/result.ts";
import { openPlain } from "../../../file/plain-file.ts";
import type { AttemptRecord } from "../../../store/store.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { type ActivitySource, readBackwards, readForwards } from "../attempt-activity.ts";
import type { ServerDeps } from "../deps.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";

type Deps = Pick<ServerDeps, "store" | "home" | "followed">;

/** Maximum bytes that one search reads; the next call continues. */
const SEARCH_BYTES = 8 * 1024 * 1024;
const SEARCH_PART = 512 * 1024;
const FOUND_CHARS = 300;
const BEFORE_FIND = 80;

export function mountActivity(mount: MountRoute, { store, home, followed }: Deps): void {
  mount.json(ROUTES.attemptActivity, async ({ params, query: { from, before, limit } }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const runId = found.value.run.id;
    const { stage, attempt } = params;
    const record = (await store.attempts(runId)).find((each) => each.stage === stage && each.attempt === attempt);
    if (record === undefined)
      return err({ code: "attempt_not_found", detail: `${runId} has no attempt ${attempt} of a stage ${stage}.` });
    if (record.endedAt === null) followed.note({ runId, stage, attempt });
    const source = await openSource(home, record);
    if (source === undefined) return ok({ source: expected(record), size: 0, from: 0, to: 0, isEnd: true, events: [] });
    try {
      const { is, size } = source;
      const part =
        from !== undefined
          ? await readForwards(source, from, limit)
          : await readBackwards(source, before ?? size, limit);
      return ok({ source: is, size, ...part });
    } finally {
      await source.handle.close();
    }
  });

  mount.json(ROUTES.searchActivity, async ({ params, query }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const attempts = (await store.attempts(found.value.run.id)).toReversed();
    return ok(await search(home, attempts, query));
  });
}

type Found = AnswerOf<typeof ROUTES.searchActivity>;
type Query = { readonly q: string; readonly limit: number; readonly after: string };

async function search(home: string, attempts: readonly AttemptRecord[], { q, limit, after }: Query): Promise<Found> {
  const wanted = q.toLowerCase();
  const [first = 0, begin = 0] = after.split("-").map(Number);
  const found: Found["found"] = [];
  let left = SEARCH_BYTES;
  for (let index = first; index < attempts.length; index++) {
    const record = attempts[index];
    const source = record === undefined ? undefined : await openSource(home, record);
    if (record === undefined || source === undefined) continue;
    try {
      for (let from = index === first ? begin : 0; from < source.size; ) {
        if (left <= 0) return { found, next: `${index}-${from}` };
        const part = await readForwards(source, from, SEARCH_PART);
        left -= part.to - part.from;
        for (const event of part.events) {
          if (found.length >= limit) return { found, next: `${index}-${event.place}` };
          const text = around(wordsOf(event), wanted);
          if (text !== undefined)
            found.push({
              stage: record.stage,
              attempt: record.attempt,
              place: event.place,
              at: event.at,
              what: event.type,
              text,
            });
        }
        if (part.to === from) break;
        from = part.to;
      }
    } finally {
      await source.handle.close();
    }
  }
  return { found, next: null };
}

/** The conversation, if the attempt has one; else what its program printed. */
async function openSource(home: string, record: AttemptRecord): Promise<ActivitySource | undefined> {
  const files = attemptFiles(home, record.runId, record.stage, record.attempt);
  const root = attemptFacts(record).workspace ?? "";
  const isOver = record.endedAt !== null;
  const events = await openPlain(files.dir, files.events);
  if (events !== undefined) return { is: "events", root, isOver, ...events };
  if (expected(record) === "events" && !isOver) return undefined;
  const output = await openPlain(files.dir, files.output);
  return output === undefined ? undefined : { is: "output", root, isOver, ...output };
}

function expected(record: AttemptRecord): ActivitySource["is"] {
  const { runner } = attemptFacts(record);
  return runner === null || runner === "command" ? "output" : "events";
}

/** The texts that a person searches. */
function wordsOf(event: ActivityEvent): string {
  switch (event.type) {
    case "message":
    case "thinking":
    case "notice":
    case "printed":
      return event.text;
    case "task":
      return `${event.name} ${event.text}`;
    case "called":
      return [
        event.call.name,
        event.call.title,
        event.call.detail,
        ...(event.call.diff?.lines ?? []).map((line) => line.text),
      ].join("\n");
    case "returned":
      return event.output;
    case "session":
    case "usage":
      return "";
  }
}

/** The part of the text with the match; undefined without one. */
function around(text: string, wanted: string): string | undefined {
  const at = text.toLowerCase().indexOf(wanted);
  if (at === -1) return undefined;
  const from = Math.max(0, at - BEFORE_FIND);
  const part = text
    .slice(from, from + FOUND_CHARS)
    .replace(/\s+/gu, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${part}${from + FOUND_CHARS < text.length ? "…" : ""}`;
}
