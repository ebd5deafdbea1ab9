// The script of a simulation: a JSON list, or one JSON object per line. The reader accepts several spellings and refuses everything else
// by name, because a simulation that silently drops an outcome proves nothing.

import { z } from "zod";
import { didYouMean } from "../../../core/check/suggest.ts";
import { err, messageOf, ok, type Problem, type Result } from "../../../core/result.ts";
import type { ScriptedOutcome } from "../../../core/run/simulate.ts";
import { DISPOSITIONS } from "../../../core/flow/outcome.ts";
import { optional } from "../../../core/optional.ts";

const MAX_OUTCOMES = 10_000;

const name = z.string().min(1).max(200);
const text = z.string().max(64 * 1024);
const issue = z.union([
  z.string(),
  z.strictObject({
    description: z.string(),
    severity: z.string().optional(),
    file: z.string().optional(),
    line: z.int().optional(),
    rule: z.string().optional(),
  }),
]);
const remarks = { comment: text.optional(), note: text.optional() };

const FORMS = {
  gate: z.strictObject({ gate: name, answer: name, ...remarks }),
  question: z.strictObject({ question: name, answer: text }),
  escalation: z.strictObject({ escalation: name, choice: name.optional(), answer: name.optional(), ...remarks }),
  choice: z.strictObject({ choice: name, answer: name, ...remarks }),
  answer: z.strictObject({ stage: name, answer: text, ...remarks }),
  stage: z.strictObject({
    stage: name,
    verdict: text.optional(),
    health: text.optional(),
    word: text.optional(),
    exit: z.int().min(0).max(255).optional(),
    score: z.number().optional(),
    issues: z.array(issue).max(1000).optional(),
    findings: z
      .array(z.strictObject({ id: name, state: z.enum(DISPOSITIONS).optional(), reason: text.optional() }))
      .max(1000)
      .optional(),
    questions: z.array(text).max(1000).optional(),
    blame: z.array(name).optional(),
    stages: z
      .array(z.union([name, z.strictObject({ agent: name, teams: z.boolean().optional() })]))
      .max(100)
      .optional(),
    interrupted: z.boolean().optional(),
    reason: text.optional(),
    summary: text.optional(),
    comment: text.optional(),
  }),
} as const;
type Form = keyof typeof FORMS;

export function readOutcomes(source: string): Result<readonly ScriptedOutcome[]> {
  const values = readValues(source);
  if (!values.ok) return values;
  if (values.value.length > MAX_OUTCOMES)
    return refuse(`there are ${values.value.length} outcomes; ${MAX_OUTCOMES} are allowed`);
  const outcomes: ScriptedOutcome[] = [];
  for (const [index, value] of values.value.entries()) {
    const outcome = readOutcome(value);
    if (!outcome.ok) return err({ ...outcome.error, message: `outcome ${index + 1}: ${outcome.error.message}` });
    outcomes.push(outcome.value);
  }
  return ok(outcomes);
}

function readValues(source: string): Result<readonly unknown[]> {
  const trimmed = source.replace(/^\uFEFF/u, "").trim();
  if (trimmed === "") return ok([]);
  const whole = parse(trimmed);
  if (whole.ok) return ok(Array.isArray(whole.value) ? whole.value : [whole.value]);
  if (trimmed.startsWith("[")) return refuse(`the list is not JSON: ${whole.error.message}`);
  const values: unknown[] = [];
  for (const [index, line] of source.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = parse(line);
    if (!value.ok) return refuse(`line ${index + 1} is not JSON: ${value.error.message}`);
    values.push(value.value);
  }
  return ok(values);
}

function parse(source: string): Result<unknown> {
  try {
    return ok(JSON.parse(source) as unknown);
  } catch (cause) {
    return refuse(messageOf(cause));
  }
}

function readOutcome(value: unknown): Result<ScriptedOutcome> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return refuse("it is not an object");
  const form = formOf(value);
  if (form === undefined) {
    return refuse(
      `it names no stage, gate, question, choice or escalation (keys: ${Object.keys(value).join(", ") || "none"})`,
    );
  }
  return FORM_READERS[form](value);
}

/** `choice` names a stage, or what is chosen at an escalation; so it is looked at after the others. */
function formOf(value: object): Form | undefined {
  const has = (key: string): boolean => Object.hasOwn(value, key);
  const named = (["gate", "question", "escalation"] as const).find(has);
  if (named !== undefined) return named;
  if (has("stage")) return has("answer") ? "answer" : "stage";
  return has("choice") ? "choice" : undefined;
}

const FORM_READERS: { readonly [F in Form]: (value: object) => Result<ScriptedOutcome> } = {
  gate: (value) =>
    check("gate", value, ({ gate, answer, ...said }) => ok({ at: gate, kind: "gate", answer, text: remark(said) })),
  question: (value) =>
    check("question", value, ({ question, answer }) =>
      ok({ at: question, kind: "question", answer: "", text: answer }),
    ),
  choice: (value) =>
    check("choice", value, ({ choice, answer, ...said }) =>
      ok({ at: choice, kind: "choice", answer, text: remark(said) }),
    ),
  escalation: (value) =>
    check("escalation", value, ({ escalation, choice, answer, ...said }) => {
      const chosen = choice ?? answer;
      if (chosen === undefined) return refuse('an escalation needs "choice"');
      if (choice !== undefined && answer !== undefined && choice !== answer)
        return refuse('"choice" and "answer" disagree; give one of the two');
      return ok({ at: escalation, kind: "escalation", answer: chosen, text: remark(said) });
    }),
  answer: (value) =>
    check("answer", value, ({ stage, answer, ...said }) => ok({ at: stage, kind: null, answer, text: remark(said) })),
  stage: (value) =>
    check("stage", value, ({ comment, findings: given, ...said }) => {
      const { reason = comment, ...rest } = present(said);
      const findings = given?.map(({ id, state, reason: why = "" }) => ({ id, ...optional({ state }), said: why }));
      return ok({ ...rest, ...optional({ reason, findings }) } as ScriptedOutcome);
    }),
};

function check<F extends Form>(
  form: F,
  value: object,
  make: (parsed: z.infer<(typeof FORMS)[F]>) => Result<ScriptedOutcome>,
): Result<ScriptedOutcome> {
  const schema = FORMS[form];
  const parsed = schema.safeParse(value);
  if (parsed.success) return make(parsed.data as z.infer<(typeof FORMS)[F]>);
  const { issues } = parsed.error;
  const known = Object.keys(schema.shape);
  // A misspelt key is also a missing one; its own name says more.
  const misspelt = issues.find((found) => found.code === "unrecognized_keys" && found.path.length === 0);
  if (misspelt?.code === "unrecognized_keys") {
    const [unknown = ""] = misspelt.keys;
    return refuse(`the key "${unknown.slice(0, 80)}" is not known here`, didYouMean(unknown, known, "keys"));
  }
  const [first] = issues;
  const path = first?.path.join(".") ?? "";
  const isMissing = first?.code === "invalid_type" && first.path.length === 1 && !Object.hasOwn(value, path);
  const what = isMissing ? "is missing" : (first?.message ?? "is not valid");
  return refuse(`"${path}" ${isMissing ? what : `cannot be used: ${what}`}`, `keys: ${known.join(", ")}`);
}

function remark({
  comment,
  note,
}: {
  readonly comment?: string | undefined;
  readonly note?: string | undefined;
}): string {
  return comment ?? note ?? "";
}

function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function refuse(message: string, hint?: string): Result<never> {
  const problem: Problem = { code: "invalid_outcome", message, ...optional({ hint }) };
  return err(problem);
}
