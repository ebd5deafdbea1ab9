// Checks conditions and entries: they parse, read facts that can exist, and name things that exist.

import { factPathsOf, parseCondition } from "../flow/condition.ts";
import type { FlowFile } from "../flow/flow-file.ts";
import { type StagePlace, sequenceOf } from "./places.ts";
import { type FlowProblem, type Path, problem, warning } from "./problem.ts";
import { didYouMean, nearest } from "./suggest.ts";
import { routeConditions } from "./words.ts";

const ROOTS = ["input", "config", "run", "ticket", "plan", "feature", "task", "story", "request"];
const LAST_FIELDS = ["health", "verdict", "word", "score", "issues", "open_questions"];

/** `stages`: which stages `last('…')` may name. */
type Written = { readonly text: string; readonly path: Path; readonly stages: readonly string[] };

export function factProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const roots = [...ROOTS, file.subject];
  const problems = conditionsOf(file, places).flatMap((written) => conditionProblems(written, roots));
  return [...problems, ...entryProblems(file, places), ...sourceProblems(places)];
}

function conditionsOf(file: FlowFile, places: readonly StagePlace[]): readonly Written[] {
  const all = places.filter(({ templateOf }) => templateOf === undefined).map(({ stage }) => stage.id);
  const written: Written[] = [];
  if (file.choose !== undefined) written.push({ text: file.choose.when, path: ["choose", "when"], stages: [] });
  for (const [status, rules] of Object.entries(file.enter ?? {})) {
    if (typeof rules === "string") continue;
    for (const [index, { when }] of rules.entries()) {
      if (when !== undefined) written.push({ text: when, path: ["enter", status, index, "when"], stages: [] });
    }
  }
  for (const place of places) {
    const { when, status } = place.written;
    const at = all.indexOf(place.stage.id);
    if (when !== undefined)
      written.push({ text: when, path: [...place.path, "when"], stages: all.slice(0, Math.max(at, 0)) });
    if (typeof status === "object" && "when" in status) {
      written.push({ text: status.when, path: [...place.path, "status", "when"], stages: all });
    }
    written.push(...routeConditions(place).map((condition) => ({ ...condition, stages: all })));
  }
  return written;
}

function conditionProblems({ text, path, stages }: Written, roots: readonly string[]): readonly FlowProblem[] {
  const condition = parseCondition(text);
  if (!condition.ok) return [problem(condition.error.code, path, condition.error.message, condition.error.hint)];
  return factPathsOf(text).flatMap((fact) => {
    const [root = "", stage = "", field = ""] = fact;
    if (root !== "last") {
      if (roots.includes(root)) return [];
      const near = nearest(root, roots);
      const hint = near === undefined ? `known facts begin with ${roots.join(", ")}` : `did you mean "${near}"?`;
      return [warning("unknown_fact", path, `nothing provides "${fact.join(".")}", so it is always none`, hint)];
    }
    if (!stages.includes(stage)) {
      return [
        problem(
          "unknown_stage",
          path,
          `last('${stage}') names no earlier stage`,
          didYouMean(stage, stages, "earlier stages"),
        ),
      ];
    }
    if (LAST_FIELDS.includes(field)) return [];
    return [warning("unknown_fact", path, `a stage has no "${field}"`, didYouMean(field, LAST_FIELDS, "fields"))];
  });
}

function entryProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const ids = sequenceOf(places, "").map(({ stage }) => stage.id);
  return Object.entries(file.enter ?? {}).flatMap(([status, rules]) => {
    const named: [string, Path][] =
      typeof rules === "string"
        ? [[rules, ["enter", status]]]
        : rules.map(({ stage }, index): [string, Path] => [stage, ["enter", status, index, "stage"]]);
    const unknown = named.flatMap(([stage, path]) =>
      ids.includes(stage)
        ? []
        : [
            problem(
              "unknown_stage",
              path,
              `"${status}" enters at "${stage}", which is no stage`,
              didYouMean(stage, ids, "stages"),
            ),
          ],
    );
    const always = typeof rules === "string" ? 0 : rules.findIndex(({ when }) => when === undefined);
    if (typeof rules === "string" || always === rules.length - 1) return unknown;
    const message =
      always === -1
        ? `no rule of "${status}" holds always, so a ticket may find no entry`
        : `rules of "${status}" after the one without "when" are never used`;
    return [...unknown, warning("entry_rules", ["enter", status], message, 'put one rule without "when" last')];
  });
}

/** A dynamic stage takes its list from a fact, or from an earlier router. */
function sourceProblems(places: readonly StagePlace[]): readonly FlowProblem[] {
  return places.flatMap(({ stage, path }, at) => {
    if (stage.kind !== "dynamic") return [];
    return stage.from.flatMap((source, index) => {
      const [id = "", rest] = source.split(".");
      if (rest !== "stages") return [];
      const routers = places.slice(0, at).flatMap((place) => (place.stage.kind === "router" ? [place.stage.id] : []));
      if (routers.includes(id)) return [];
      return [
        problem(
          "unknown_stage",
          [...path, "from", index],
          `"${id}" is not an earlier router`,
          didYouMean(id, routers, "routers"),
        ),
      ];
    });
  });
}
