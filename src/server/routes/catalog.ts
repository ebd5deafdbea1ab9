// Flows and agents that a run can be made of.

import { ROUTES } from "../../api/routes.ts";
import { err, ok } from "../../core/result.ts";
import { NOT_STARTED, waysOf } from "../../core/ways.ts";
import type { Mount } from "../mount.ts";
import type { ServerParts } from "../parts.ts";
import { listStages, whoOf } from "../views/run.ts";

export function mountCatalog(mount: Mount, { flows, agents }: ServerParts): void {
  mount.json(ROUTES.listFlows, async () => ok({ flows: flows.list().map((flow) => ({ ...flow })) }));

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
        ...(help === undefined ? {} : { hint: help }),
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
    });
  });

  mount.json(ROUTES.listAgents, async () => ok({ agents: agents().map((agent) => ({ ...agent })) }));
}
