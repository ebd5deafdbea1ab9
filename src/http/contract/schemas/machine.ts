// This machine: the programs that can play agents, the daemon's project, and the demo.

import { z } from "zod";
import { time } from "./common.ts";
import { runSummarySchema } from "./run.ts";

const runnerSchema = z
  .object({
    runner: z.string(),
    found: z.boolean(),
    path: z.string().nullable(),
    version: z.string().nullable().meta({ description: "as the program says it; null where it does not answer" }),
    login: z.enum(["yes", "no", "unknown"]),
    told: z.string().meta({ description: "how that is known, or what is missing" }),
    fix: z.string().meta({ description: "the line that mends it; empty where nothing is to be done" }),
  })
  .meta({ id: "Runner" });

export const runnersSchema = z.object({
  runners: z.array(runnerSchema),
  checkedAt: time.nullable().meta({ description: "null where nothing is known yet" }),
  checking: z.boolean().meta({ description: "they are being asked right now; ask again in a moment" }),
});

export const projectSchema = z
  .object({
    path: z.string(),
    git: z
      .object({ branch: z.string().nullable(), commit: z.string().nullable(), changes: z.boolean() })
      .nullable()
      .meta({ description: "null where it is no repository" }),
  })
  .meta({ id: "Project" });

export const demoSchema = z.object({ project: z.string(), runs: z.array(runSummarySchema) });
