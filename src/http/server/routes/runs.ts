// Runs: list, show, history, start.

import { createHash } from "node:crypto";
import type { Refusal } from "../../contract/problem.ts";
import type { BodyOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { runLimit } from "../../../core/run/run-budget.ts";
import { openItems } from "../../../core/run/run.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { featureRecord } from "../../../core/view/feature.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type { RunSummary, Store } from "../../../store/store.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import { allEvents } from "../../../app/find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { refusalOf, startRefusal } from "../refusal.ts";
import { showPlanned } from "../views/briefing.ts";
import { showRun } from "../views/run.ts";
import { showRow } from "../views/run-row.ts";
import { optional } from "../../../core/optional.ts";

export function mountRuns(mount: MountRoute, deps: ServerDeps): void {
  const { store } = deps;

  mount.json(ROUTES.listRuns, async ({ query: { status, flow, q, limit, before } }) => {
    const found = await store.listRuns({
      ...optional({ word: status, flow, text: q, before }),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    return ok({
      runs: await showRows(store, page, Date.parse(deps.now())),
      next: found.length > limit ? (page.at(-1)?.number ?? null) : null,
    });
  });

  mount.json(ROUTES.showRun, async ({ params }) => {
    const described = await deps.app.describeRun(params.run);
    if (!described.ok) return err(refusalOf(described.error));
    const { run } = described.value;
    // Only items tell where work lands; a run without one needs no git for it.
    const place = openItems(run).length === 0 ? null : await deps.landingPlace(projectOf(run));
    const limit = runLimit(deps.app.budgets(), run);
    return ok(showRun({ ...described.value, limit, place, now: deps.now() }));
  });

  mount.json(ROUTES.runEvents, async ({ params, query: { after, limit } }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { id: runId, subject } = found.value.run;
    const events = await store.events({ runId, after, limit: limit + 1 });
    const page = events.slice(0, limit);
    return ok({
      events: page.map(({ seq, version, event }) => ({
        seq,
        runId,
        subjectId: subject.id,
        version,
        event: { ...event },
      })),
      next: events.length > limit ? (page.at(-1)?.seq ?? null) : null,
    });
  });

  mount.json(ROUTES.showFeature, async ({ params }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { run } = found.value;
    const [{ flow }, events] = await Promise.all([flowOf(store, run), allEvents(store, run.id)]);
    const { pipeline_log, ...record } = featureRecord(flow, events, run);
    return ok({
      ...record,
      pipeline_log: pipeline_log.map(({ issues, ...entry }) => ({
        ...entry,
        ...(issues === undefined ? {} : { issues: [...issues] }),
      })),
    });
  });

  mount.json(ROUTES.previewRun, (call) => previewRun(deps, call));

  mount.json(ROUTES.startRun, (call) => startRun(deps, call));
}

/** Runs of one page often share a few flows: each is read once. */
async function showRows(store: Store, page: readonly RunSummary[], now: number) {
  const flows = new Map<string, Promise<ResolvedFlow>>();
  const rows = await Promise.all(
    page.map(async (summary) => {
      const stored = await store.loadRun(summary.id);
      // It was deleted after the list was made.
      if (stored === undefined) return [];
      const { run } = stored;
      const flow = flows.get(run.flowHash) ?? flowOf(store, run);
      flows.set(run.flowHash, flow);
      return [showRow(summary, run, await flow, now)];
    }),
  );
  return rows.flat();
}

type StartRoute = typeof ROUTES.startRun;

async function startRun(
  deps: ServerDeps,
  { body, principal, key }: Call<StartRoute>,
): Promise<Result<{ run: RunSummary }, Refusal>> {
  const { app, store } = deps;
  const plan = await app.planRun({
    ...requestedIn(body),
    subject: { id: body.id ?? subjectId(deps, key), title: body.title, body: body.body },
    ...optional({ key }),
  });
  if (!plan.ok) return err(startRefusal(body.flow, plan.error));
  const started = await app.startRun(plan.value, actorOf(principal));
  if (!started.ok) return err(refusalOf(started.error));
  const found = await findRun(store, started.value.run.id);
  return found.ok ? ok({ run: found.value.summary }) : found;
}

type PreviewRoute = typeof ROUTES.previewRun;

async function previewRun({ app }: ServerDeps, { body }: Call<PreviewRoute>) {
  const preview = await app.previewRun({
    ...requestedIn(body),
    subject: { id: "preview", title: "preview", body: "" },
  });
  if (!preview.ok) return err(startRefusal(body.flow, preview.error));
  const { stated, files, repositories, refused, plan, ...rest } = preview.value;
  return ok({
    ...rest,
    plan: { ...plan, stages: plan.stages.map(showPlanned) },
    stated: stated.map((each) => ({ ...each })),
    files: files.map(({ name, path, sha256, bytes }) => ({ name, path, sha256, bytes })),
    repositories: repositories.map((each) => ({ ...each })),
    refused: refused === null ? null : { message: refused.problem.message, needs: [...refused.needs] },
  });
}

function requestedIn(body: BodyOf<PreviewRoute>) {
  const { flow, input, workspace, allow, repositories, project: projectName, agents = {}, models = {}, budget } = body;
  return {
    flow,
    input: Object.entries(input as JsonObject).flatMap(([name, value]): [string, Json][] =>
      value === undefined ? [] : [[name, value]],
    ),
    runners: Object.entries(agents).map(([name, runner]) => `${name}=${runner}`),
    models: Object.entries(models).map(([name, model]) => `${name}=${model}`),
    ...optional({ workspace, allow, repositories, projectName, budget: budget && optional(budget) }),
  };
}

/** The same key gives the same subject, so that a repeated request is the same start. */
function subjectId(deps: ServerDeps, key: string | undefined): string {
  if (key === undefined) return deps.newId();
  return createHash("sha256").update(`subject ${key}`).digest("hex").slice(0, 32);
}
