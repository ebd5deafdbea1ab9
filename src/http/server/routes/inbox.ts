// The inbox, and a person's answer to an item. An answer is bound to the version that the person saw.

import { reachedAgent } from "../../../core/view/live-wait.ts";
import { optional } from "../../../core/optional.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import type { LandingPlace } from "../../../core/view/landing.ts";
import { workBranches } from "../../../core/view/work-lines.ts";
import type { Issue } from "../../../core/flow/outcome.ts";
import { findBriefing } from "../../../app/briefing.ts";
import type { Answered } from "../../../app/answer-item.ts";
import type { Seen } from "../../../app/item-version.ts";
import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf, BodyOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { groupDayBudgets } from "../../../core/view/day-budget.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { actorOf } from "../actor.ts";
import { decisionsSince } from "../decisions.ts";
import { findRun } from "../find-run.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { refusalOf, shownDecision } from "../refusal.ts";
import { signalKey } from "../signal-key.ts";
import { WIRE_RULES } from "../wire-rules.ts";
import { showBriefing } from "../views/briefing.ts";
import { evidenceOf } from "../views/evidence.ts";
import { type ItemFacts, showItem } from "../views/inbox.ts";
import { showLooseEnd } from "../views/loose-end.ts";

const BRANCHES_AT_MOST = 50;

export function mountInbox(mount: MountRoute, deps: ServerDeps): void {
  mount.json(ROUTES.listInbox, async ({ principal }) => {
    const records = groupDayBudgets(await deps.store.inbox());
    const runs = new Map<string, Promise<ItemFacts | undefined>>();
    const places = new Map<string, Promise<LandingPlace>>();
    const placeOf = (project: string): Promise<LandingPlace> => {
      const place = places.get(project) ?? deps.landingPlace(project);
      places.set(project, place);
      return place;
    };
    const items = await Promise.all(
      records.map(async ({ runId, item, others }) => {
        const loaded = runs.get(runId) ?? loadFacts(deps, runId, placeOf);
        runs.set(runId, loaded);
        const found = await loaded;
        return found === undefined ? [] : [showItem(found, item, others)];
      }),
    );
    // Only a caller who may approve the project's files sees them.
    const { ends: all, unseen } = await deps.looseEnds();
    const ends = all.filter(({ kind }) => kind !== "trust" || principal.kind === "operator");
    return ok({ items: items.flat(), looseEnds: ends.map(showLooseEnd), unseen });
  });

  mount.json(ROUTES.showItem, async ({ params, header }) => {
    const described = await deps.app.describeItem(params.item);
    if (!described.ok) return err(refusalOf(described.error));
    const { run, summary, resolved, attempts, item, itemVersion: version, marked, moved } = described.value;
    header("etag", `"${version}"`);
    const place = await deps.landingPlace(projectOf(run));
    const shown = showItem({ run, runNumber: summary.number, resolved, version, place }, item);
    const briefing = await findBriefing(deps, resolved, run, item);
    return ok({
      ...shown,
      work: workBranches(attempts)
        .slice(0, BRANCHES_AT_MOST)
        .map((each) => ({ ...each })),
      moved: moved === null ? null : { ...moved },
      evidence: evidenceOf(resolved, run, attempts, marked),
      briefing: briefing === null ? null : showBriefing(briefing),
    });
  });

  mount.json(ROUTES.listDecisions, async ({ query }) => ok(await decisionsSince(deps.store, query)));

  mount.json(ROUTES.answerItem, (call) => answer(deps, call));
}

async function loadFacts(
  deps: ServerDeps,
  runId: string,
  placeOf: ServerDeps["landingPlace"],
): Promise<ItemFacts | undefined> {
  const found = await findRun(deps.store, runId);
  if (!found.ok) return undefined;
  const { run, summary } = found.value;
  const [version, resolved, place] = await Promise.all([
    deps.app.itemVersion(found.value),
    flowOf(deps.store, run),
    placeOf(projectOf(run)),
  ]);
  return { run, runNumber: summary.number, resolved, version, place };
}

type AnswerRoute = typeof ROUTES.answerItem;

async function answer(
  { app }: ServerDeps,
  { params, body, principal, ifMatch, key }: Call<AnswerRoute>,
): Promise<Result<AnswerOf<AnswerRoute>, Refusal>> {
  const answered = await app.answerItem(
    { item: params.item, ...givenIn(body), seen: seenBy(ifMatch), rules: WIRE_RULES },
    { actor: actorOf(principal), ...optional({ key: signalKey(key) }) },
  );
  return answered.ok ? ok(show(params.item, answered.value)) : err(refusalOf(answered.error));
}

function show(id: string, answered: Answered): AnswerOf<AnswerRoute> {
  const { id: runId, status, word } = answered.run;
  const run = { id: runId, status, word };
  if (answered.type === "answered") {
    const inPlace = reachedAgent(answered.run, answered.item.number) ? { inPlace: true as const } : {};
    return { id, answer: answered.answer, run, ...inPlace };
  }
  const { decided, isRepeated } = answered;
  // A repeated request gets the first answer.
  return { id, answer: decided.answer, run, ...(isRepeated ? {} : { decided: shownDecision(decided) }) };
}

function seenBy(ifMatch: string | undefined): Seen {
  if (ifMatch === undefined) return { type: "unsaid" };
  return ifMatch === "*" ? { type: "anything" } : { type: "version", version: ifMatch };
}

/** Omits fields that were not given. */
function givenIn({ answer: word, text, issues }: BodyOf<AnswerRoute>) {
  const named = issues.map(
    ({ severity, description, file, line, endLine, suggestion }): Issue => ({
      ...optional({ severity }),
      description,
      ...optional({ file, line, endLine, suggestion }),
    }),
  );
  return { answer: word, text, issues: named };
}
