// Checks counters: known, used, without contradiction, and with a route to take when they are used up.

import type { Flow } from "../flow/flow.ts";
import type { FlowFile } from "../flow/flow-file.ts";
import { type StagePlace, routesOf } from "./places.ts";
import { type FlowProblem, type Path, problem, warning } from "./problem.ts";
import { didYouMean } from "./suggest.ts";

export function counterProblems(file: FlowFile, flow: Flow, places: readonly StagePlace[]): readonly FlowProblem[] {
  const names = Object.keys(flow.counters);
  return Object.entries(flow.counters).flatMap(([name, counter]) => {
    const path: Path = ["counters", name];
    const written = file.counters?.[name];
    const users = places.filter((place) => routesOf(place).some(({ route }) => route.counter === name));
    const problems: FlowProblem[] = [];
    if (users.length === 0) problems.push(warning("counter_unused", path, `no route uses the counter "${name}"`));
    if (
      written?.max_attempts !== undefined &&
      written.max_loops !== undefined &&
      written.max_attempts !== written.max_loops + 1
    ) {
      problems.push(
        problem(
          "counter_contradiction",
          path,
          "max_attempts and max_loops disagree",
          "max_loops is max_attempts - 1; give one of the two",
        ),
      );
    }
    for (const [index, other] of counter.resets.entries()) {
      if (!names.includes(other)) {
        problems.push(
          problem(
            "unknown_counter",
            [...path, "resets", index],
            `there is no counter "${other}"`,
            didYouMean(other, names, "counters"),
          ),
        );
      } else if (resetsReach(flow, other, name)) {
        problems.push(
          problem(
            "loop_without_limit",
            [...path, "resets", index],
            `"${name}" and "${other}" reset each other, so neither limits anything`,
          ),
        );
      }
    }
    if (counter.onExhausted !== "escalate" && counter.onExhausted !== "stop") {
      for (const { stage } of users) {
        if (stage.kind === "parallel" || stage.kind === "dynamic" || Object.hasOwn(stage.route, counter.onExhausted))
          continue;
        const hint = `add "${counter.onExhausted}" to the route of ${stage.id}, or use escalate or stop`;
        problems.push(
          problem(
            "exhaustion_not_routed",
            [...path, "on_exhausted"],
            `when "${name}" is used up, stage ${stage.id} has no way "${counter.onExhausted}"`,
            hint,
          ),
        );
      }
    }
    return problems;
  });
}

/** Whether counting `from` resets `to`, directly or through others. */
function resetsReach(flow: Flow, from: string, to: string): boolean {
  const open = [from];
  const seen = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(flow.counters[name]?.resets ?? []));
  }
  return false;
}
