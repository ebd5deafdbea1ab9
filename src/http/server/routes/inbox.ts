// What waits for a person, and the person's answer. An answer belongs to what was shown: if the run has moved on since, it does not
// count, and the caller is told what has changed.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf, BodyOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { canonicalJson } from "../../../core/json.ts";
import type { Issue } from "../../../core/flow/outcome.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { type InboxItem, openItems, type Run } from "../../../core/run/run.ts";
import { actorOf } from "../actor.ts";
import { refuseAnswer, takenAnswer } from "../answers.ts";
import { decisionsSince } from "../decisions.ts";
import { allEvents, type FoundRun, findRun, itemVersion } from "../find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { refuseMoved } from "../moved.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerParts } from "../parts.ts";
import { createTurns } from "../turns.ts";
import { evidenceOf } from "../views/evidence.ts";
import { type ItemFacts, showItem } from "../views/inbox.ts";
import { optional } from "../../../core/optional.ts";

export function mountInbox(mount: MountRoute, parts: ServerParts): void {
  mount.json(ROUTES.listInbox, async () => {
    const records = await parts.store.inbox();
    const runs = new Map<string, Promise<ItemFacts | undefined>>();
    const items = await Promise.all(
      records.map(async ({ runId, item }) => {
        const loaded = runs.get(runId) ?? loadFacts(parts, runId);
        runs.set(runId, loaded);
        const found = await loaded;
        return found === undefined ? [] : [showItem(found, item)];
      }),
    );
    return ok({ items: items.flat() });
  });

  mount.json(ROUTES.showItem, async ({ params, header }) => {
    const found = await findItem(parts, params.item);
    if (!found.ok) return found;
    const { item } = found.value;
    if (item.type === "closed") return err(notWaiting(params.item, item));
    const { run, summary } = found.value.found;
    const version = await itemVersion(parts, found.value.found);
    header("etag", `"${version}"`);
    const [resolved, attempts] = await Promise.all([flowOf(parts.store, run), parts.store.attempts(run.id)]);
    const shown = showItem({ run, runNumber: summary.number, resolved, version }, item.item);
    return ok({ ...shown, evidence: evidenceOf(resolved, run, attempts) });
  });

  mount.json(ROUTES.listDecisions, async ({ query }) => ok(await decisionsSince(parts.store, query)));

  // Many may answer one item at once: each looks at it only after the one before has decided.
  const turns = createTurns();
  mount.json(ROUTES.answerItem, async (call) => {
    const { item } = call.params;
    const found = await findRun(parts.store, item.slice(0, item.lastIndexOf(".")));
    return found.ok ? turns(found.value.run.id, () => answerItem(parts, call)) : found;
  });
}

async function loadFacts(parts: ServerParts, runId: string): Promise<ItemFacts | undefined> {
  const found = await findRun(parts.store, runId);
  if (!found.ok) return undefined;
  const { run, summary } = found.value;
  const [version, resolved] = await Promise.all([itemVersion(parts, found.value), flowOf(parts.store, run)]);
  return { run, runNumber: summary.number, resolved, version };
}

type Answered = AnswerOf<typeof ROUTES.answerItem>;

async function answerItem(
  parts: ServerParts,
  { params, body, principal, ifMatch, wish }: Call<typeof ROUTES.answerItem>,
): Promise<Result<Answered, Refusal>> {
  const found = await findItem(parts, params.item);
  if (!found.ok) return found;
  const { run } = found.value.found;
  const { item, number } = found.value;
  const signalId = wish === undefined ? undefined : `wish:${wish}`;
  if (item.type === "closed") {
    const { was } = item;
    // The same wish again, perhaps after a restart, is told again what it led to. Who only wanted the same came too late.
    const isSame =
      was !== undefined &&
      takenAnswer(was, body) === was.answer &&
      was.text === body.text &&
      canonicalJson(was.issues) === canonicalJson(body.issues);
    const isRepeated = isSame && signalId !== undefined && (await parts.store.hasSignal(run.id, signalId));
    return isRepeated ? ok(shown(was.answer, run)) : err(notWaiting(params.item, item));
  }
  const refused =
    refuseAnswer(item.item, body) ??
    (await refuseMoved(parts, {
      stored: found.value.found,
      item: item.item,
      ...optional({ ifMatch }),
    }));
  if (refused !== undefined) return err(refused);
  const answer = takenAnswer(item.item, body);
  const commit = item.item.kind === "gate" ? await parts.commitOf(run) : null;
  const decided = {
    ...(commit === null ? {} : { commit }),
    ...(body.issues.length === 0 ? {} : { issues: issuesOf(body) }),
  };
  const delivery = await parts.engine.deliver(
    run.id,
    { type: "item.answered", number, kind: item.item.kind, answer, text: body.text, ...decided },
    actorOf(principal),
    signalId,
  );
  if (delivery.ignored !== undefined) {
    const now = await findItem(parts, params.item);
    return err(
      now.ok && now.value.item.type === "closed"
        ? notWaiting(params.item, now.value.item)
        : { code: "action_refused", detail: `${params.item}: ${delivery.ignored}.` },
    );
  }
  return ok(shown(answer, delivery.run));

  function shown(given: string, after: Run): Answered {
    return { id: params.item, answer: given, run: { id: after.id, status: after.status, word: after.word } };
  }
}

type Closed = {
  readonly type: "closed";
  readonly kind: InboxItem["kind"];
  /** Absent where it was withdrawn. */
  readonly was?: {
    readonly kind: InboxItem["kind"];
    readonly answer: string;
    readonly text: string;
    readonly issues: readonly Issue[];
    readonly by: string;
    readonly at: string;
  };
};
type FoundItem = {
  readonly found: FoundRun;
  readonly number: number;
  readonly item: { readonly type: "open"; readonly item: InboxItem } | Closed;
};

async function findItem({ store }: ServerParts, reference: string): Promise<Result<FoundItem, Refusal>> {
  const dot = reference.lastIndexOf(".");
  const number = Number(reference.slice(dot + 1));
  const found = await findRun(store, reference.slice(0, dot));
  if (!found.ok) return found;
  const item = openItems(found.value.run).find((open) => open.number === number);
  if (item !== undefined) return ok({ found: found.value, number, item: { type: "open", item } });
  const closed = await findClosed(store, found.value.run.id, number);
  return closed === undefined
    ? err({
        code: "item_not_found",
        detail: `There is no item ${reference}.`,
        hint: "GET /api/inbox lists what waits.",
      })
    : ok({ found: found.value, number, item: closed });
}

async function findClosed(store: ServerParts["store"], runId: string, number: number): Promise<Closed | undefined> {
  let closed: Closed | undefined;
  for (const event of await allEvents(store, runId)) {
    if ("item" in event && event.item.number === number) closed = { type: "closed", kind: event.item.kind };
    if (closed === undefined || !("number" in event) || event.number !== number) continue;
    const by = { by: event.actor, at: event.at, kind: closed.kind, issues: [] };
    switch (event.type) {
      case "gate.answered":
        return { ...closed, was: { ...by, answer: event.answer, text: event.comment, issues: event.issues ?? [] } };
      case "question.answered":
        return closed.kind === "choice"
          ? { ...closed, was: { ...by, answer: event.answer, text: "" } }
          : { ...closed, was: { ...by, answer: "", text: event.answer } };
      case "escalation.resolved":
        return { ...closed, was: { ...by, answer: event.choice, text: event.note, issues: event.issues ?? [] } };
      case "budget.answered":
        return { ...closed, was: { ...by, answer: event.answer, text: event.note } };
      case "item.withdrawn":
        return closed;
      // Handoffs have numbers of their own.
      case "handoff.created":
      case "handoff.accepted":
      case "handoff.rejected":
      case "handoff.withdrawn":
      case "handoff.expired":
        break;
    }
  }
  return closed;
}

function notWaiting(reference: string, { kind, was }: Closed): Refusal {
  const how =
    was === undefined ? "it was withdrawn" : `${was.by} answered ${was.answer === "" ? "it" : was.answer} at ${was.at}`;
  return {
    code: kind === "gate" ? "gate_not_waiting" : "item_not_waiting",
    detail: `${kind} ${reference} is not open any more: ${how}.`,
    hint: "GET /api/inbox lists what waits.",
    ...(was === undefined ? {} : { decided: { answer: was.answer, text: was.text, by: was.by, at: was.at } }),
  };
}

/** Fields that were not given are left out, also on the way. */
function issuesOf({ issues }: BodyOf<typeof ROUTES.answerItem>): readonly Issue[] {
  return issues.map(({ severity, description, file, line }) => ({
    ...optional({ severity }),
    description,
    ...optional({ file, line }),
  }));
}
