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

const projectName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected a project's name: letters, digits, dots, dashes, underscores");

export const projectNameParams = z.strictObject({ name: projectName });

export const registeredProjectSchema = z
  .object({
    name: z.string(),
    folder: z.string(),
    addedAt: time,
    present: z.boolean().meta({ description: "false if the folder was moved or removed" }),
  })
  .meta({ id: "RegisteredProject" });

const listedProjectSchema = z
  .object({
    ...registeredProjectSchema.shape,
    isOwn: z.boolean().meta({ description: "the folder that the daemon works on" }),
    trust: z.enum(["none", "new", "approved", "changed", "unreadable"]).meta({
      description:
        "the files that decide what runs there: there are none, not approved, approved, changed since, or they cannot be read",
    }),
    lastRun: z
      .object({ number: z.int(), title: z.string(), word: z.string(), updatedAt: time })
      .nullable()
      .meta({ description: "null if none of the newest 200 runs was there" }),
  })
  .meta({ id: "ListedProject" });

export const registeredProjectsSchema = z.object({ projects: z.array(listedProjectSchema) });

export const addProjectSchema = z.strictObject({
  folder: z.string().min(1).max(4096).meta({ description: "an absolute path on the daemon's machine" }),
  name: projectName.optional().meta({ description: "default: the folder's own name" }),
});

export const queueEntrySchema = z
  .object({
    runId: z.string(),
    number: z.int(),
    flow: z.string(),
    title: z.string(),
    track: z.string(),
    stage: z.string(),
    attempt: z.int(),
    agent: z.string(),
    state: z.enum(["running", "queued", "later", "paused", "outside"]),
    since: time,
    notBefore: time.nullable(),
    position: z.int().nullable().meta({ description: "the place in line; null if it is not in line" }),
    inPlace: z.boolean().meta({ description: "works in the folder itself, one run after another" }),
    why: z.string().nullable().meta({ description: "why it does not work yet; null for what works" }),
  })
  .meta({ id: "QueueEntry" });

export const queueSchema = z.object({
  projects: z.array(
    z.object({
      project: z.string().meta({ description: "the folder" }),
      name: z.string().nullable().meta({ description: "the registered name" }),
      entries: z.array(queueEntrySchema),
    }),
  ),
});

export const demoSchema = z.object({ project: z.string(), runs: z.array(runSummarySchema) });
