// The flows and agents for runs.

import { findResults } from "../../../app/results.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { listStages, whoOf } from "../../../core/view/stage-list.ts";
import type { Results } from "../../../core/view/results.ts";
import { statusWords } from "../../../core/view/status-words.ts";
import { err, ok } from "../../../core/result.ts";
import { isWork } from "../../../core/run/sequence.ts";
import { NOT_STARTED, waysOf } from "../../../core/run/targets.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { isStoryFlow } from "../../../core/run/told.ts";
import { optional } from "../../../core/optional.ts";

/** Sums cover this many of the newest runs, so that an answer takes the same time in a store of any age. */
const RUNS_AT_MOST = 300;

export function mountCatalog(mount: MountRoute, deps: ServerDeps): void {
  const { flows, agents } = deps;
  mountSums(mount, deps);
  mount.json(ROUTES.listFlows, async () =>
    ok({ flows: flows.list().map(({ inputs, ...flow }) => ({ ...flow, inputs: [...inputs] })) }),
  );

  mount.json(ROUTES.showFlow, async ({ params }) => {
    const resolved = flows.resolve(params.flow);
    if (!resolved.ok) {
      const { code, message, hint } = resolved.error;
      const isMissing = code === "flow_not_found";
      const known = flows.list().map(({ name }) => name);
      const help = isMissing ? `Known flows: ${known.join(", ")}` : hint;
      return err({
        code: isMissing ? "flow_not_found" : "flow_invalid",
        detail: message,
        ...optional({ hint: help }),
      });
    }
    const { flow, hash } = resolved.value;
    return ok({
      name: flow.name,
      title: flow.title ?? flow.name,
      hash,
      stages: listStages(flow.stages).map(({ track, stage }) => ({
        track,
        id: stage.id,
        kind: stage.kind,
        who: whoOf(stage),
        ways: waysOf(flow, NOT_STARTED, track, stage).map((way) => ({ ...way, to: [...way.to] })),
      })),
      agents: Object.keys(resolved.value.agents),
      counters: Object.entries(flow.counters).map(([name, { maxLoops }]) => ({ name, max: maxLoops })),
      statuses: [...statusWords(flow)],
      story: storyOf(flow),
    });
  });

  mount.json(ROUTES.flowSource, async ({ params }) => {
    const source = flows.source(params.flow);
    if (source === undefined) {
      const known = flows.list().map(({ name }) => name);
      const detail = `There is no flow ${params.flow}.`;
      return err({ code: "flow_not_found", detail, hint: `Known flows: ${known.join(", ")}` });
    }
    const { problems, ...rest } = source;
    return ok({
      name: params.flow,
      ...rest,
      problems: problems.map(({ severity, code, message, hint = null, file, line, column }) => ({
        severity,
        code,
        message,
        hint,
        file,
        line,
        column,
      })),
    });
  });

  mount.json(ROUTES.listAgents, async () => ok({ agents: agents().map((agent) => ({ ...agent })) }));
}

/** Sums over the last runs. */
function mountSums(mount: MountRoute, { store }: ServerDeps): void {
  mount.json(ROUTES.flowStats, async ({ params }) =>
    ok({ flow: params.flow, ...(await store.flowStats({ flow: params.flow, limit: RUNS_AT_MOST })) }),
  );

  mount.json(ROUTES.insights, async ({ query }) => {
    const since = query.since === undefined ? null : new Date(query.since).toISOString();
    const period = { limit: RUNS_AT_MOST, ...(since === null ? {} : { since }) };
    const found = await store.insights(period);
    const results = await findResults(store, period);
    return ok({
      since,
      most: RUNS_AT_MOST,
      runs: found.runs,
      loops: found.loops.map((row) => ({ ...row })),
      waits: found.waits.map((row) => ({ ...row })),
      failures: found.failures.map((row) => ({ ...row })),
      results: shownResults(results),
    });
  });
}

function shownResults({ tickets, runs, ...numbers }: Results) {
  return {
    ...numbers,
    tickets: tickets.map((row) => ({ ...row, runs: [...row.runs] })),
    runs: runs.map(({ agents, stages, runners, models, ...row }) => ({
      ...row,
      agents: [...agents],
      stages: [...stages],
      runners: [...runners],
      models: [...models],
    })),
  };
}

/** The edges between agents, for flows whose agents hand over through the API. */
function storyOf(flow: Flow): { agents: string[]; entry: string | null; exit: string | null } | null {
  if (!isStoryFlow(flow)) return null;
  const agents = new Set(flow.stages.flatMap((stage) => (isWork(stage) ? [stage.shownAgent] : [])));
  const { entry = null, exit = null } = flow.handoffs;
  return { agents: [...agents], entry, exit };
}
