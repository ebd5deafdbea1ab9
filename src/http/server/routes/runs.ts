// Runs: list, show, history, and the start of one.

import { createHash } from "node:crypto";
import type { Refusal } from "../../contract/problem.ts";
import type { BodyOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { canonicalJson, type JsonObject } from "../../../core/json.ts";
import { featureRecord } from "../../../core/view/feature.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import type { Run, Subject } from "../../../core/run/run.ts";
import type { RunSummary, Store } from "../../../store/store.ts";
import { actorOf } from "../actor.ts";
import { allEvents, findRun, itemVersion } from "../find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { Call, MountRoute } from "../mount.ts";
import type { ServerParts } from "../parts.ts";
import { showRun } from "../views/run.ts";
import { showRow } from "../views/run-row.ts";
import { optional } from "../../../core/optional.ts";

export function mountRuns(mount: MountRoute, parts: ServerParts): void {
  const { store } = parts;

  mount.json(ROUTES.listRuns, async ({ query: { status, flow, q, limit, before } }) => {
    const found = await store.listRuns({
      ...optional({ word: status, flow, text: q, before }),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    return ok({
      runs: await showRows(store, page),
      next: found.length > limit ? (page.at(-1)?.number ?? null) : null,
    });
  });

  mount.json(ROUTES.showRun, async ({ params }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { run, version, summary } = found.value;
    const [resolved, attempts, handoffs] = await Promise.all([
      flowOf(store, run),
      store.attempts(run.id),
      store.handoffs(run.id),
    ]);
    return ok(
      showRun({
        run,
        version,
        summary,
        resolved,
        attempts,
        handoffs,
        itemVersion: run.status === "waiting" ? await itemVersion(parts, found.value) : String(version),
      }),
    );
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

  mount.json(ROUTES.startRun, (call) => startRun(parts, call));
}

/** Runs of one page mostly have a few flows in common: each is read once. */
async function showRows(store: Store, page: readonly RunSummary[]) {
  const flows = new Map<string, Promise<Flow>>();
  const rows = await Promise.all(
    page.map(async (summary) => {
      const stored = await store.loadRun(summary.id);
      // It was deleted since the list was made.
      if (stored === undefined) return [];
      const { run } = stored;
      const flow = flows.get(run.flowHash) ?? flowOf(store, run).then((resolved) => resolved.flow);
      flows.set(run.flowHash, flow);
      return [showRow(summary, run, await flow)];
    }),
  );
  return rows.flat();
}

type Start = typeof ROUTES.startRun;

async function startRun(
  parts: ServerParts,
  { body, principal, wish }: Call<Start>,
): Promise<Result<{ run: RunSummary }, Refusal>> {
  const resolved = parts.flows.resolve(body.flow);
  if (!resolved.ok) return err(noFlow(parts, body.flow, resolved.error));
  const subject: Subject = { id: body.id ?? subjectId(parts, wish), title: body.title, body: body.body };
  const { agents, input, workspace } = body;
  const prepared = await parts.prepare({
    resolved: resolved.value,
    subject,
    input: input as JsonObject,
    ...optional({ workspace, agents }),
  });
  if (!prepared.ok) return err(refused("run_refused", prepared.error));
  // A wish that is repeated after a restart finds the run of the first time under the same id.
  const runId = wish === undefined ? parts.newRunId() : `r${wish.slice(0, 10)}`;
  const actor = actorOf(principal);
  const { run, duplicate } = await parts.engine.startRun({
    runId,
    resolved: resolved.value,
    subject,
    facts: prepared.value,
    actor,
  });
  if (duplicate && !isSameWish(run, body, subject))
    return err({ code: "idempotency_key_reused", detail: "This Idempotency-Key has started another run before." });
  const found = await findRun(parts.store, run.id);
  return found.ok ? ok({ run: found.value.summary }) : found;
}

function subjectId(parts: ServerParts, wish: string | undefined): string {
  if (wish === undefined) return parts.newId();
  return createHash("sha256").update(`subject ${wish}`).digest("hex").slice(0, 32);
}

function isSameWish(run: Run, { flow }: BodyOf<Start>, subject: Subject): boolean {
  return run.flow === flow && canonicalJson(run.subject) === canonicalJson(subject);
}

function noFlow(parts: ServerParts, name: string, problem: Problem): Refusal {
  if (problem.code !== "flow_not_found") return refused("flow_invalid", problem);
  const known = parts.flows.list().map((flow) => flow.name);
  return {
    code: "unknown_flow",
    detail: `There is no flow ${JSON.stringify(name)}.`,
    pointer: "/flow",
    hint: `Known flows: ${known.join(", ")}`,
  };
}

function refused(code: "run_refused" | "flow_invalid", { message, hint }: Problem): Refusal {
  return { code, detail: message, ...optional({ hint }) };
}
