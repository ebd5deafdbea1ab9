// A run as spans of OpenTelemetry, in the JSON form of OTLP: the run, its stages, their attempts. Names follow the GenAI conventions of the
// version in SCHEMA_URL. Ids follow from the run, so that a span which is sent twice is the same span. No prompts, titles or paths.

import type { ReportedUsage } from "../budget/budget.ts";

export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number };
export type OtlpAttribute = { readonly key: string; readonly value: OtlpValue };
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** Internal. */
  readonly kind: 1;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  /** 2: error. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
};

/** Hex digits of a text, at least 32, the same for the same text. */
export type Digest = (text: string) => string;

export type TracedRun = {
  readonly id: string;
  readonly flow: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly end: "completed" | "canceled" | "stopped";
};

export type TracedAttempt = {
  readonly runId: string;
  readonly flow: string;
  readonly stage: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly endedAt: string;
  /** How it ended: `pass`, `revise`, `failed`, `interrupted` … */
  readonly outcome: string;
  readonly isGood: boolean;
  readonly agent: string | null;
  readonly used: ReportedUsage | null;
};

/** Vendors by the name that the conventions give them. */
const PROVIDERS: Readonly<Record<string, string>> = { claude: "anthropic", codex: "openai", gemini: "gcp.gemini" };

export function attemptSpan(attempt: TracedAttempt, digest: Digest): OtlpSpan {
  const { runId, flow, stage, agent, used, outcome, isGood } = attempt;
  const usage = used?.usage;
  return {
    ...placeOf(digest, runId, `${stage}/${attempt.attempt}`, stage),
    name: `invoke_agent ${agent ?? stage}`,
    ...times(attempt),
    attributes: attributesOf({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agent ?? stage,
      "gen_ai.provider.name": used === null ? undefined : (PROVIDERS[used.runner] ?? used.runner),
      "gen_ai.request.model": used?.model ?? undefined,
      "gen_ai.usage.input_tokens": usage?.inputTokens ?? undefined,
      "gen_ai.usage.output_tokens": usage?.outputTokens ?? undefined,
      "passrail.run.id": runId,
      "passrail.flow": flow,
      "passrail.stage": stage,
      "passrail.attempt": attempt.attempt,
      "passrail.outcome": outcome,
      "passrail.cost.usd": usage?.usd === null ? undefined : asDouble(usage?.usd),
    }),
    status: isGood ? { code: 0 } : { code: 2, message: outcome },
  };
}

/** The run's own span and one per stage, from its first attempt to its last. */
export function runSpans(run: TracedRun, attempts: readonly TracedAttempt[], digest: Digest): readonly OtlpSpan[] {
  const { id, flow, end } = run;
  const whole: OtlpSpan = {
    ...placeOf(digest, id, "", null),
    name: `invoke_workflow ${flow}`,
    ...times(run),
    attributes: attributesOf({
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": flow,
      "passrail.run.id": id,
      "passrail.outcome": end,
    }),
    status: end === "stopped" ? { code: 2, message: end } : { code: 0 },
  };
  const stages = [...Map.groupBy(attempts, ({ stage }) => stage)].map(([stage, own]): OtlpSpan => {
    const startedAt = own.map((each) => each.startedAt).toSorted()[0] ?? run.startedAt;
    const endedAt =
      own
        .map((each) => each.endedAt)
        .toSorted()
        .at(-1) ?? run.endedAt;
    return {
      ...placeOf(digest, id, stage, ""),
      name: `stage ${stage}`,
      ...times({ startedAt, endedAt }),
      attributes: attributesOf({ "passrail.run.id": id, "passrail.stage": stage, "passrail.attempts": own.length }),
      status: { code: 0 },
    };
  });
  return [whole, ...stages];
}

function placeOf(digest: Digest, runId: string, own: string, parent: string | null) {
  const spanId = (part: string): string => digest(`span:${runId}:${part}`).slice(0, 16);
  const place = { traceId: digest(`trace:${runId}`).slice(0, 32), spanId: spanId(own), kind: 1 as const };
  return parent === null ? place : { ...place, parentSpanId: spanId(parent) };
}

function times({ startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string }) {
  const nanos = (at: string): string => `${Date.parse(at)}000000`;
  return { startTimeUnixNano: nanos(startedAt), endTimeUnixNano: nanos(endedAt < startedAt ? startedAt : endedAt) };
}

type Double = { readonly double: number };
const asDouble = (value: number | undefined): Double | undefined =>
  value === undefined ? undefined : { double: value };

function attributesOf(
  values: Readonly<Record<string, string | number | Double | undefined>>,
): readonly OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

/** 64-bit integers are texts in the JSON form. */
function toValue(value: string | number | Double): OtlpValue {
  if (typeof value === "string") return { stringValue: value };
  return typeof value === "number" ? { intValue: String(value) } : { doubleValue: value.double };
}
