// Turns zod's issues into problems that a person can act on: a stable code, the place, the allowed values, and the word probably meant.

import { DURATION_PATTERN } from "../flow/flow-file.ts";
import { NAME_PATTERN } from "../flow/name.ts";
import { MOVED_PICK_KEYS } from "./pick.ts";
import { type FlowProblem, type Path, problem } from "./problem.ts";
import { removedKeyHint } from "./removed-keys.ts";
import { allowedKeys, allowedWords, schemaAt } from "./schema-at.ts";
import { didYouMean, nearest } from "./suggest.ts";

/** The part of zod's issues that Passrail reads. */
export type SchemaIssue = {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly SchemaIssue[])[];
};

/** Words that people know from other tools, and their names here. */
const MEANT: Readonly<Record<string, string>> = {
  on: "route",
  transitions: "route",
  next: "route",
  steps: "stages",
  nodes: "stages",
  name: "flow",
  max_revisions: "max_loops",
  max_retries: "max_loops",
  retries: "max_loops",
  max_iterations: "max_attempts",
  if: "when",
  condition: "when",
  role: "agent",
  type: "kind",
  to: "goto",
  target: "goto",
  prompt_path: "prompt_file",
};

export function schemaProblems(issues: readonly SchemaIssue[], value: unknown): readonly FlowProblem[] {
  const problems = issues.flatMap((issue) => fromIssue(issue, [], value));
  // A misspelt key is one fault, not two: the key it was meant to be is then not reported as missing.
  const meant = new Set(
    problems.flatMap(({ code, path, hint }) =>
      code === "unknown_field" && hint !== undefined ? [`${path.slice(0, -1).join("/")} ${hint}`] : [],
    ),
  );
  return problems.filter(({ code, path }) => {
    const parent = path.slice(0, -1).join("/");
    return code !== "missing_field" || !meant.has(`${parent} did you mean "${String(path.at(-1))}"?`);
  });
}

function fromIssue(issue: SchemaIssue, parent: Path, value: unknown): readonly FlowProblem[] {
  const path: Path = [...parent, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))];
  if (issue.code === "unrecognized_keys") return (issue.keys ?? []).map((key) => unknownField(path, key));
  if (issue.code === "invalid_union") {
    const meant = (issue.errors ?? []).find((branch) => branch.some((inner) => !isMismatch(inner)));
    return meant === undefined
      ? [leaf(path, valueAt(value, path))]
      : meant.flatMap((inner) => fromIssue(inner, path, value));
  }
  if (issue.code === "invalid_key") {
    const name = String(path.at(-1));
    return [
      problem(
        "invalid_name",
        path,
        `"${name}" is not a name`,
        "letters, digits and dashes, beginning with a letter, at most 48",
      ),
    ];
  }
  return [leaf(path, valueAt(value, path))];
}

/** Whether a branch of a union has another type than the value, so that its issues are noise. */
function isMismatch(issue: SchemaIssue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === "invalid_union") return (issue.errors ?? []).every((branch) => branch.every(isMismatch));
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

function unknownField(path: Path, key: string): FlowProblem {
  const removed = removedKeyHint(path, key);
  if (removed !== undefined)
    return problem("removed_field", [...path, key], `"${key}" of ${placeName(path)} never had an effect`, removed);
  const known = allowedKeys(path);
  const meant = MEANT[key];
  const moved = path.join(".") === "pick" ? MOVED_PICK_KEYS[key] : undefined;
  const hint =
    moved ??
    (meant !== undefined && known.includes(meant) ? `did you mean "${meant}"?` : didYouMean(key, known, "keys"));
  return problem("unknown_field", [...path, key], `"${key}" is not a key of ${placeName(path)}`, hint);
}

function leaf(path: Path, value: unknown): FlowProblem {
  const key = String(path.at(-1));
  const allowed = schemaAt(path);
  if (path.length === 0) return problem("flow_must_be_mapping", path, `a flow is a mapping, not ${kindOf(value)}`);
  if (value === undefined) {
    return problem("missing_field", path, `${placeName(path.slice(0, -1))} has no "${key}"`, allowed[0]?.description);
  }
  if (path.includes("command")) {
    const hint =
      'write the program and each argument separately: ["claude", "-p"]; there is no shell, so && | ; have no meaning';
    return problem("command_must_be_list", path, `a command is a list of words, not ${kindOf(value)}`, hint);
  }
  if (allowed.some(({ pattern }) => pattern === DURATION_PATTERN.source)) {
    return problem(
      "invalid_duration",
      path,
      `${shown(value)} is not a duration`,
      "examples: 500ms, 30s, 30m, 2h, 1d; at most 24d",
    );
  }
  const number = allowed.find(({ type }) => type === "integer" || type === "number");
  if (number !== undefined && (typeof value === "number" || typeof value === "string")) {
    const whole = number.type === "integer" ? "a whole number" : "a number";
    const words = allowedWords(path).map((word) => `, or ${word}`);
    const range = number.maximum === undefined ? "" : ` from ${number.minimum ?? 0} to ${number.maximum}`;
    return problem("invalid_number", path, `"${key}" is ${shown(value)}`, `expected ${whole}${range}${words.join("")}`);
  }
  const words = allowedWords(path);
  if (words.length > 0 && typeof value === "string") {
    const near = nearest(value, words);
    const hint = `${near === undefined ? "" : `did you mean "${near}"? `}allowed: ${words.join(", ")}`;
    return problem("invalid_value", path, `"${key}" cannot be ${shown(value)}`, hint);
  }
  const described = allowed[0]?.description;
  if (typeof value === "string" && allowed.some(({ pattern }) => pattern === NAME_PATTERN.source)) {
    return problem(
      "invalid_name",
      path,
      `${shown(value)} is not a name`,
      "letters, digits and dashes, beginning with a letter, at most 48",
    );
  }
  if (typeof value === "string" && allowed.some(({ pattern }) => pattern !== undefined)) {
    return problem("invalid_value", path, `"${key}" cannot be ${shown(value)}`, described);
  }
  const types = [...new Set(allowed.flatMap(({ type }) => (type === undefined ? [] : [TYPE_NAMES[type] ?? type])))];
  const fits = types.includes(kindOf(value));
  const message = fits ? `"${key}" is too short, too long or empty` : `"${key}" is ${kindOf(value)}`;
  return problem(
    "invalid_type",
    path,
    message,
    fits ? described : `expected ${types.join(" or ") || "something else"}`,
  );
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: "a mapping",
  array: "a list",
  string: "a text",
  integer: "a number",
  number: "a number",
  boolean: "true or false",
};

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return TYPE_NAMES[typeof value] ?? typeof value;
}

function shown(value: unknown): string {
  return typeof value === "string" ? `"${value.slice(0, 60)}"` : String(value).slice(0, 60);
}

/** "stage qa", "the flow", "counters.revision": a place as people name it. */
function placeName(path: Path): string {
  return path.length === 0 ? "the flow" : path.map(String).join(".");
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (current === null || typeof current !== "object" || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}
