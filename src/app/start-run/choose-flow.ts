// The flow that a start names: a flow, or a family of flows of which the facts of the start choose one (`choose` in the flow file).

import type { Catalog } from "../../catalog/catalog.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { holds } from "../../core/flow/condition.ts";
import type { Flow } from "../../core/flow/flow.ts";
import { type Json, lookUp } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { readGivenFiles } from "./given-files.ts";
import { placeInputs } from "./inputs.ts";

export type FlowChoice = {
  readonly name: string;
  readonly project: string;
  readonly input: readonly (readonly [name: string, value: Json])[];
};

/** The names of the flows of a family; empty if there is no such family. A flow of that name hides the family. */
export function familyOf(catalog: Catalog, name: string): readonly string[] {
  const known = catalog.listFlows().map((flow) => flow.name);
  if (known.includes(name)) return [];
  return known.filter((each) => {
    const checked = catalog.requireFlow(each);
    return checked.ok && checked.value.flow.family === name;
  });
}

/** The one flow of the family whose condition holds for these facts. */
export function chooseFlow(
  members: readonly ResolvedFlow[],
  { name, project, input }: FlowChoice,
): Result<ResolvedFlow> {
  const fitting: ResolvedFlow[] = [];
  for (const member of members) {
    const placed = placeInputs(member.flow, input);
    if (!placed.ok) return placed;
    const given = readGivenFiles(member.flow, project, placed.value.facts);
    if (!given.ok) return given;
    const { facts } = given.value;
    if (holds(member.flow.chooseWhen ?? "false", (path) => lookUp(facts, path))) fitting.push(member);
  }
  const [only, another] = fitting;
  if (only === undefined)
    return err(
      noneFits(
        name,
        members.map(({ flow }) => flow),
      ),
    );
  if (another === undefined) return ok(only);
  return err({
    code: "flow_ambiguous",
    message: `${only.flow.name} and ${another.flow.name} of ${name} are both for this work.`,
    hint: `Name one: passrail run ${only.flow.name} …`,
  });
}

const noneFits = (name: string, flows: readonly Flow[]): Problem => ({
  code: "flow_does_not_fit",
  message: `No flow of ${name} is for this work.`,
  hint: flows.map((flow) => `${flow.name} is for work where ${flow.chooseWhen ?? "false"}`).join("\n"),
});
