// A report that a worker sends. It has the fields of a report of this machine except those that only the engine may fill in, each of
// bounded size; an unknown field is dropped.

import { z } from "zod";
import { DISPOSITIONS, type Report } from "../flow/outcome.ts";
import { optional } from "../optional.ts";

const line = z.string().max(2000);
const text = z.string().max(200_000);
const number = z.number();

const usageFields = z.object({
  usd: number.min(0).max(1_000_000).nullable(),
  inputTokens: number.min(0).max(1e12).nullable(),
  outputTokens: number.min(0).max(1e12).nullable(),
  cachedTokens: number.min(0).max(1e12).nullable(),
});
export const usageSchema = z.object({ runner: line, model: line.nullable(), usage: usageFields });

const issue = z.union([
  text,
  z.object({
    severity: line.optional(),
    description: text,
    file: line.optional(),
    line: number.optional(),
    rule: line.optional(),
    row: text.optional(),
  }),
]);
const issues = z.array(issue).max(1000);

const checkResult = z.object({
  name: line,
  command: text,
  state: z.enum(["passed", "failed", "timed_out", "not_started"]),
  exitCode: number.nullable(),
  commit: line.nullable(),
  tree: line.nullable(),
  startedAt: line,
  endedAt: line,
  counts: z.object({ passed: number, failed: number, skipped: number, errors: number, warnings: number }).optional(),
  why: text.optional(),
  /** A file of the record, never a path. */
  log: z.string().regex(/^(?:check-[A-Za-z0-9._-]{1,100}\.log)?$/u),
  changed: z.array(line).max(1000).optional(),
  cached: z.object({ runId: line, stage: line, attempt: number, at: line }).optional(),
});

const parsed = z.object({
  health: line.optional(),
  verdict: line.optional(),
  score: number.optional(),
  reason: text.optional(),
  summary: text.optional(),
  issues: issues.optional(),
  findings: z
    .array(z.object({ id: line, state: z.enum(DISPOSITIONS).optional(), said: text }))
    .max(1000)
    .optional(),
  questions: z.array(text).max(100).optional(),
  stages: z
    .array(z.object({ agent: line, teams: z.boolean() }))
    .max(200)
    .optional(),
  blame: z.array(line).max(100).optional(),
  payload: z.record(z.string(), z.json()).optional(),
  path: line.optional(),
  claimed: z.object({ loop: number.optional(), next: line.optional(), status: line.optional() }).optional(),
  cause: line.optional(),
  structured: z.boolean().optional(),
  warnings: z.array(text).max(1000).optional(),
  usage: usageSchema.optional(),
  resetsAt: line.optional(),
  reached: z
    .object({
      scope: z.enum(["run", "ticket", "day"]),
      key: line,
      unit: z.enum(["usd", "tokens"]),
      limit: number,
      size: number,
      needed: number,
      used: number,
    })
    .optional(),
  asked: z.literal(true).optional(),
  heard: z.object({ by: line, signed: z.boolean(), said: text }).optional(),
  checks: z.array(checkResult).max(200).optional(),
  evidence: z
    .array(
      z.object({
        what: text,
        isMet: z.boolean().nullable(),
        evidence: text,
        state: z.enum(["run", "reported", "missing"]),
        why: text,
      }),
    )
    .max(1000)
    .optional(),
  checkIssues: issues.optional(),
  undone: z.object({ from: line, to: line, pinned: line.nullable() }).optional(),
  reused: z.object({ run: line, stage: line, attempt: number }).optional(),
});

/** Without the fields that are absent, as everywhere else. */
export const reportSchema = parsed.transform((report) => optional(report) as Report);
