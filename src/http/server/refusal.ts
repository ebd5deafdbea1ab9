// A problem of a use case as a refusal of this API: the same code, with a hint for API clients.

import type { AppProblem, ClosingDecision } from "../../app/problem.ts";
import { optional } from "../../core/optional.ts";
import type { Problem } from "../../core/result.ts";
import type { ProblemCode, ProblemDocument, Refusal } from "../contract/problem.ts";

export function refusalOf(problem: AppProblem): Refusal {
  const { code, message, field, current, changed, decided } = problem;
  const hint = HINTS[code]?.(problem) ?? problem.hint;
  return {
    code: CODES[code] ?? (code as Exclude<AppProblem["code"], OtherCode>),
    detail: message,
    ...optional({ hint, pointer: field === undefined ? undefined : `/${field}`, current }),
    ...(changed === undefined ? {} : { changed: [...changed] }),
    ...(decided === undefined ? {} : { decided: shownDecision(decided) }),
    ...(code === "version_mismatch" && changed !== undefined ? { headers: { etag: `"${current ?? ""}"` } } : {}),
  };
}

/** A refused start: problems of the flow keep their codes, everything else concerns this start. */
export function startRefusal(flow: string, { code, message, hint, field }: Problem): Refusal {
  if (code === "flow_not_found")
    return {
      code: "unknown_flow",
      detail: `There is no flow ${JSON.stringify(flow)}.`,
      pointer: "/flow",
      ...optional({ hint }),
    };
  const pointer = field === undefined ? undefined : `/${field}`;
  const refused = code === "flow_invalid" ? "flow_invalid" : "run_refused";
  return { code: refused, detail: message, ...optional({ hint, pointer }) };
}

export function shownDecision({ answer, text, by, at }: ClosingDecision): NonNullable<ProblemDocument["decided"]> {
  return { answer, text, by, at };
}

/** Paths name runs in full, so both mean that there is none. */
type OtherCode = "run_ambiguous" | "run_missing";

const CODES: Readonly<Partial<Record<AppProblem["code"], ProblemCode>>> = {
  run_ambiguous: "run_not_found",
  run_missing: "run_not_found",
};

const WAITING = () => "GET /api/inbox lists what waits.";

const HINTS: Readonly<Partial<Record<AppProblem["code"], (problem: AppProblem) => string>>> = {
  run_not_found: () => "GET /api/runs lists them.",
  item_not_found: WAITING,
  item_not_waiting: WAITING,
  gate_not_waiting: WAITING,
  version_required: ({ current = "" }) =>
    `If-Match: "${current}" for what it is now (GET the item shows it), * for whatever it is`,
};
