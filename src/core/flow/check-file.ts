// The keys of checks in flow files and settings. Both use the same schema, so a check can move from one to the other.

import { z } from "zod";
import { ALL_CHECKS, SUMMARY_PARSERS } from "./check-result.ts";
import { isName, NAME_PATTERN } from "./name.ts";

const MAX_CHECKS = 30;

const checkName = z
  .string()
  .regex(NAME_PATTERN)
  .refine((name) => isName(name) && name !== ALL_CHECKS, { message: "this word is reserved" })
  .describe("letters, digits and dashes, beginning with a letter");

const argv = z
  .array(z.string().min(1).max(4000))
  .min(1)
  .max(100)
  .describe("program and arguments, never a shell line; exit code 0 is a pass");

/** Callers bring their own form of a duration. */
export function checksKey(duration: z.ZodType<string>) {
  const check = z.union([
    argv,
    z.strictObject({
      run: argv,
      timeout: duration.describe("the check is ended after this and did not pass (default 10m)").optional(),
      parse: z.enum(SUMMARY_PARSERS).describe("the tool whose summary its output has").optional(),
      report: z
        .string()
        .min(1)
        .max(300)
        .describe("the file that the parser reads, inside the workspace (junit needs one)")
        .optional(),
      env: z
        .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
        .max(50)
        .describe("variables that the check gets and on whose values its result depends")
        .optional(),
    }),
  ]);
  return z
    .record(
      checkName,
      check.refine((written) => !("run" in written) || written.parse !== "junit" || written.report !== undefined, {
        message: "junit needs the file that its tool writes: add report",
      }),
    )
    .refine((checks) => Object.keys(checks).length <= MAX_CHECKS, { message: `at most ${MAX_CHECKS} checks` })
    .describe("name -> program that Passrail runs on finished work");
}

export type ChecksFile = z.infer<ReturnType<typeof checksKey>>;

/** The checks of a stage, as a flow writes them. */
export const stageChecks = z
  .union([z.literal(ALL_CHECKS), z.array(checkName).max(MAX_CHECKS)])
  .describe(
    "checks that Passrail runs after a pass, on the committed work: names, or all that project and flow define",
  );
