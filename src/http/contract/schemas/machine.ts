// This machine: the programs that can play agents, the daemon's project, and the demo.

import { z } from "zod";
import { time } from "./common.ts";
import { runSummarySchema } from "./run.ts";

const runnerSchema = z
  .object({
    runner: z.string(),
    found: z.boolean(),
    path: z.string().nullable(),
    version: z.string().nullable().meta({ description: "as reported by the program; null if it does not answer" }),
    login: z.enum(["yes", "no", "unknown"]),
    evidence: z.string().meta({ description: "the evidence, or the missing part" }),
    fix: z.string().meta({ description: "the command that fixes it; empty if nothing is missing" }),
  })
  .meta({ id: "Runner" });

export const runnersSchema = z.object({
  runners: z.array(runnerSchema),
  checkedAt: time.nullable().meta({ description: "null before the first check" }),
  checking: z.boolean().meta({ description: "the programs are being checked; ask again in a moment" }),
});

export const projectSchema = z
  .object({
    path: z.string(),
    git: z
      .object({ branch: z.string().nullable(), commit: z.string().nullable(), changes: z.boolean() })
      .nullable()
      .meta({ description: "null if it is no repository" }),
  })
  .meta({ id: "Project" });

export const demoSchema = z.object({ project: z.string(), runs: z.array(runSummarySchema) });
