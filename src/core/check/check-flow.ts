// Checks whether a flow file can run: first its form (the schema), then its meaning. Reports all problems at once, each with its place.
// Reads no files; the catalog adds lines and columns.

import { resolveFlow } from "../flow/flow.ts";
import { type FlowFile, flowFileSchema } from "../flow/flow-file.ts";
import type { CheckContext } from "./context.ts";
import { factProblems } from "./facts.ts";
import { graphProblems } from "./graph.ts";
import { inputProblems } from "./inputs.ts";
import { pickProblems } from "./pick.ts";
import { placesOf } from "./places.ts";
import type { FlowProblem, Path } from "./problem.ts";
import { routeProblems } from "./routes.ts";
import { schemaProblems } from "./schema-problems.ts";
import { secretProblems } from "./secrets.ts";
import { stageProblems } from "./stages.ts";
import { wordProblems } from "./words.ts";

export type FlowCheck =
  | { readonly ok: true; readonly value: FlowFile; readonly warnings: readonly FlowProblem[] }
  | { readonly ok: false; readonly error: readonly FlowProblem[]; readonly warnings: readonly FlowProblem[] };

export function checkFlow(file: unknown, context: CheckContext): FlowCheck {
  const problems = [...secretProblems(file), ...meaning(file, context)];
  const warnings = problems.filter(({ severity }) => severity === "warning");
  const errors = problems.filter(({ severity }) => severity === "error");
  const parsed = flowFileSchema.safeParse(file);
  return parsed.success && errors.length === 0
    ? { ok: true, value: parsed.data, warnings }
    : { ok: false, error: errors, warnings };
}

function meaning(file: unknown, context: CheckContext): readonly FlowProblem[] {
  const parsed = flowFileSchema.safeParse(file);
  if (parsed.success) return semantics(parsed.data, context, true);
  const found = schemaProblems(parsed.error.issues, file);
  // Leaves out malformed values, so that the rest can still be checked. Skips the graph: it would blame the gaps.
  const rest = flowFileSchema.safeParse(
    without(
      file,
      found.map(({ path }) => path),
    ),
  );
  if (!rest.success) return found;
  const more = semantics(rest.data, context, false).filter(
    ({ path }) => !found.some((other) => isWithin(other.path, path) || isWithin(path, other.path)),
  );
  return [...found, ...more];
}

function semantics(file: FlowFile, context: CheckContext, whole: boolean): readonly FlowProblem[] {
  const flow = resolveFlow(file);
  const places = placesOf(file, flow);
  const routes = routeProblems(file, flow, places, context.agents);
  const complete = !routes.some(({ code }) => code === "flow_graph_invalid");
  return [
    ...stageProblems(file, places, context),
    ...routes,
    ...wordProblems(file, flow, places),
    ...factProblems(file, places),
    ...inputProblems(file),
    ...pickProblems(file),
    ...(whole ? graphProblems(file, flow, places, complete) : []),
  ];
}

function isWithin(inner: Path, outer: Path): boolean {
  return outer.every((step, index) => inner[index] === step);
}

/** A copy without the values at these paths. List items stay, so that the positions of the others remain true. */
function without(value: unknown, paths: readonly Path[], here: Path = []): unknown {
  if (Array.isArray(value)) return value.map((item, index) => without(item, paths, [...here, index]));
  if (value === null || typeof value !== "object") return value;
  const gone = new Set(
    paths.flatMap((path) => (path.length === here.length + 1 && isWithin(path, here) ? [String(path.at(-1))] : [])),
  );
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      gone.has(key) ? [] : [[key, without(item, paths, [...here, key])]],
    ),
  );
}
