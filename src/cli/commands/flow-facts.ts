// What a simulated run knows at its start: `--input` of the command line as facts, placed where the flow's conditions read them.

import { factPathsOf } from "../../core/condition.ts";
import type { Flow, Route, Stage } from "../../core/flow.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isWork } from "../../core/sequence.ts";
import { usageError } from "../errors.ts";

export type Inputs = { readonly facts: JsonObject; readonly warnings: readonly string[] };

const SEGMENT = /^[A-Za-z_][A-Za-z0-9_-]{0,79}$/u;
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

/** `plan.new_infra=true` is that fact. A bare `new_infra=true` is input.new_infra and every fact of the flow with that last name. */
export function readInputs(flow: Flow, given: readonly string[]): Inputs {
  const facts: Tree = {};
  const warnings: string[] = [];
  const known = factsOfFlow(flow);
  for (const pair of given) {
    const at = pair.indexOf("=");
    const key = at === -1 ? pair : pair.slice(0, at);
    const path = key.split(".");
    if (at === -1 || !path.every((part) => SEGMENT.test(part) && !FORBIDDEN.has(part))) {
      throw usageError(
        "invalid_input",
        `--input "${pair}" is not key=value`,
        "for example --input plan.new_infra=true",
      );
    }
    const value = valueOf(pair.slice(at + 1));
    const [only] = path;
    const paths =
      path.length > 1 || only === undefined
        ? [path]
        : [["input", only], ...known.filter((fact) => fact.at(-1) === only)];
    for (const place of paths) put(facts, place, value, key);
    const isRead = paths.some((place) => known.some((fact) => fact.join(".") === place.join(".")));
    if (!isRead) {
      const list = known.map((fact) => fact.join(".")).join(", ");
      warnings.push(
        `the flow ${flow.name} does not read ${key}; ${list === "" ? "it reads no input" : `it reads: ${list}`}`,
      );
    }
  }
  return { facts, warnings };
}

type Tree = { [key: string]: Json | Tree };

function put(tree: Tree, path: readonly string[], value: Json, key: string): void {
  let here = tree;
  for (const part of path.slice(0, -1)) {
    const inner = here[part] ?? {};
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) {
      throw usageError("invalid_input", `--input ${key}: ${part} has a value already and cannot hold ${path.at(-1)}`);
    }
    here[part] = inner;
    here = inner as Tree;
  }
  here[path.at(-1) ?? ""] = value;
}

function valueOf(text: string): Json {
  if (text === "true" || text === "false") return text === "true";
  // 007 and 1e3 stay text: a fact is never changed by being read.
  return text !== "" && Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text;
}

/** Every fact that a run of this flow may look up and that does not come from the run itself. */
function factsOfFlow(flow: Flow): readonly (readonly string[])[] {
  const conditions = [
    flow.chooseWhen,
    ...Object.values(flow.enter).flatMap((rules) => rules.map(({ when }) => when)),
    ...flow.stages.flatMap(conditionsOf),
  ].filter((text) => text !== undefined);
  const paths = [
    ...conditions.flatMap((text) => factPathsOf(text)),
    ...flow.stages.flatMap((stage) => (stage.kind === "dynamic" ? stage.from.map((name) => name.split(".")) : [])),
    ...(Object.keys(flow.enter).length === 0 ? [] : [["ticket", "status"]]),
  ];
  const routers = new Set(flow.stages.flatMap((stage) => (stage.kind === "router" ? [`${stage.id}.stages`] : [])));
  const own = paths.filter((path) => path[0] !== "last" && !routers.has(path.join(".")));
  return [...new Map(own.map((path) => [path.join("."), path])).values()];
}

function conditionsOf(stage: Stage): readonly (string | undefined)[] {
  if (stage.kind === "parallel")
    return [stage.when, ...Object.values(stage.tracks).flatMap(({ stages }) => stages.flatMap(conditionsOf))];
  if (stage.kind === "dynamic") return [stage.when, ...Object.values(stage.templates).flatMap(conditionsOf)];
  return [
    stage.when,
    ...(isWork(stage) || stage.kind === "gate" ? Object.values(stage.route).map(statusCondition) : []),
  ];
}

function statusCondition({ status }: Route): string | undefined {
  return typeof status === "object" ? status.when : undefined;
}
