// Finds what `run WORD` starts: the flow with this name, the flow with this alias, or the flow that plays a single agent, with the agent named.

import type { Catalog } from "../../catalog/catalog.ts";
import { nearest } from "../../core/check/suggest.ts";
import type { Flow } from "../../core/flow/flow.ts";
import type { Json } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";

export type FoundStart = {
  readonly flow: string;
  /** Inputs that the word itself gives. */
  readonly input: readonly (readonly [name: string, value: Json])[];
  /** A person named a flow, its alias, or one of its agents. */
  readonly by: "flow" | "alias" | "agent";
};

/** `flow_not_found` where nothing has this name. */
export function findStart(catalog: Catalog, word: string): Result<FoundStart> {
  const listed = catalog.listFlows();
  if (listed.some(({ name }) => name === word)) return ok({ flow: word, input: [], by: "flow" });
  const flows = flowsOf(catalog);
  const named = flows.find(({ aliases = [] }) => aliases.includes(word.toLowerCase()));
  if (named !== undefined) return ok({ flow: named.name, input: [], by: "alias" });
  const agent = catalog.agents().agents.get(word.toLowerCase());
  const plays = flows.find(({ agentInput }) => agentInput !== undefined);
  if (agent !== undefined && plays?.agentInput !== undefined)
    return ok({ flow: plays.name, input: [[plays.agentInput, agent.name]], by: "agent" });
  return err(notFound(catalog, flows, word));
}

/** The flows without errors, the project's first: a project's flow takes an alias over from a shipped one. */
function flowsOf(catalog: Catalog): readonly Flow[] {
  const listed = catalog
    .listFlows()
    .toSorted((a, b) => Number(a.origin === "shipped") - Number(b.origin === "shipped"));
  return listed.flatMap(({ name }) => {
    const checked = catalog.requireFlow(name);
    return checked.ok ? [checked.value.flow] : [];
  });
}

function notFound(catalog: Catalog, flows: readonly Flow[], word: string): Problem {
  const names = catalog.listFlows().map(({ name }) => name);
  const aliases = flows.flatMap((flow) => flow.aliases ?? []);
  const agents = flows.some(({ agentInput }) => agentInput !== undefined) ? [...catalog.agents().agents.keys()] : [];
  const near = nearest(word, [...names, ...aliases, ...agents]);
  return {
    code: "flow_not_found",
    message: `There is no flow or agent ${JSON.stringify(word.slice(0, 80))}.`,
    hint: [
      ...(near === undefined ? [] : [`did you mean "${near}"?`]),
      `known flows: ${[...names, ...aliases].join(", ")}`,
      ...(agents.length === 0 ? [] : [`known agents: ${agents.toSorted().join(", ")}`]),
    ].join("\n"),
  };
}
