// Flows and agents as lists to choose from, with the results of each flow's runs.

import { z } from "zod";
import { time } from "./common.ts";
import { way } from "./common.ts";
import { RUN_STATUSES } from "./run.ts";

const flowSummarySchema = z
  .object({
    name: z.string(),
    title: z.string(),
    file: z.string(),
    origin: z.string().meta({ description: "shipped with Passrail, or from the project" }),
    family: z
      .string()
      .nullable()
      .meta({ description: "a name that starts the flow of several that the input chooses; null without one" }),
    inputs: z
      .array(
        z.object({
          name: z.string().meta({ description: "the key in `input` of a start" }),
          kind: z.enum(["file", "folder"]),
          required: z.boolean(),
          about: z.string(),
        }),
      )
      .meta({ description: "files and folders of the project that a start names" }),
  })
  .meta({ id: "FlowSummary" });

const flowStage = z.object({
  id: z.string(),
  kind: z.string(),
  who: z.string(),
  track: z.string(),
  ways: z.array(way),
});

export const flowDetailSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    hash: z.string(),
    stages: z.array(flowStage),
    agents: z.array(z.string()),
    counters: z.array(z.object({ name: z.string(), max: z.int().nullable() })),
    statuses: z.array(z.string()).meta({ description: "its status words, in the flow's order" }),
    story: z
      .object({
        agents: z.array(z.string()).meta({ description: "the agents, in order" }),
        entry: z.string().nullable(),
        exit: z.string().nullable(),
      })
      .nullable()
      .meta({ description: "null if agents do not hand over through the handoffs API" }),
  })
  .meta({ id: "Flow" });

const agentSummarySchema = z
  .object({
    name: z.string(),
    description: z.string(),
    model: z.string().nullable(),
    file: z.string(),
    origin: z.string(),
  })
  .meta({ id: "AgentSummary" });

export const flowListSchema = z.object({ flows: z.array(flowSummarySchema) });
export const agentListSchema = z.object({ agents: z.array(agentSummarySchema) });

export const flowSourceSchema = z
  .object({
    name: z.string(),
    file: z.string(),
    origin: z.string(),
    text: z.string().nullable().meta({ description: "null if the file cannot be read" }),
    problems: z.array(
      z.object({
        severity: z.enum(["error", "warning"]),
        code: z.string(),
        message: z.string(),
        hint: z.string().nullable(),
        file: z.string(),
        line: z.int(),
        column: z.int(),
      }),
    ),
  })
  .meta({ id: "FlowSource" });

export const flowStatsSchema = z
  .object({
    flow: z.string(),
    runs: z.int().meta({ description: "the number of newest runs that were read" }),
    completed: z.int(),
    canceled: z.int(),
    stopped: z.int(),
    medianMs: z.number().nullable().meta({ description: "of completed runs, including waiting time" }),
    medianUsd: z.number().nullable().meta({ description: "of completed runs with a fully known cost" }),
    loops: z.int().meta({ description: "how often work was sent back and counted" }),
  })
  .meta({ id: "FlowStats" });

const waitSchema = z.object({
  kind: z.string(),
  flow: z.string(),
  stage: z.string(),
  times: z.int(),
  open: z.int(),
  medianMs: z.number().nullable(),
  longestMs: z.number().nullable(),
});

const failureSchema = z.object({
  runId: z.string(),
  number: z.int(),
  flow: z.string(),
  stage: z.string(),
  attempt: z.int(),
  agent: z.string().nullable(),
  at: time,
  reason: z.string(),
});

const resultRunSchema = z.object({
  id: z.string(),
  number: z.int(),
  title: z.string(),
  ticket: z.string(),
  flow: z.string(),
  status: z.enum(RUN_STATUSES),
  day: z.string().meta({ description: "the UTC day on which it began" }),
  loops: z.int().meta({ description: "how often work was sent back" }),
  landed: z.boolean().meta({ description: "its work is in the target" }),
  usd: z.number().nullable().meta({ description: "what its attempts reported; null if none did" }),
  unknownUsd: z.int().meta({ description: "attempts that did not report their cost" }),
  tokens: z.number(),
  agents: z.array(z.string()),
  stages: z.array(z.string()),
  runners: z.array(z.string()),
  models: z.array(z.string()),
});

const ticketResultSchema = z.object({
  ticket: z.string(),
  title: z.string(),
  runs: z.array(z.int()).meta({ description: "their numbers" }),
  landed: z.boolean(),
  usd: z.number().nullable(),
  unknownUsd: z.int(),
  loops: z.int(),
});

const resultsSchema = z
  .object({
    firstPass: z
      .object({ passed: z.int(), of: z.int() })
      .meta({ description: "completed runs whose work was never sent back, of all completed ones" }),
    landed: z
      .object({ tickets: z.int(), known: z.int(), usdPerTicket: z.number().nullable() })
      .meta({ description: "`usdPerTicket`: over the `known` tickets, whose whole cost was reported" }),
    loopsPerRun: z.number().nullable(),
    tickets: z.array(ticketResultSchema).meta({ description: "the most expensive first" }),
    runs: z.array(resultRunSchema).meta({ description: "the runs that all of these numbers are made of" }),
  })
  .meta({ id: "Results" });

export const insightsSchema = z
  .object({
    since: time.nullable(),
    runs: z.int().meta({ description: "the number of newest runs that were read" }),
    most: z.int().meta({ description: "the maximum" }),
    loops: z
      .array(z.object({ flow: z.string(), stage: z.string(), loops: z.int() }))
      .meta({ description: "counted loops by the stage that sent the work back" }),
    waits: z.array(waitSchema).meta({ description: "how long runs waited for people" }),
    failures: z.array(failureSchema).meta({ description: "the last attempts that failed" }),
    results: resultsSchema,
  })
  .meta({ id: "Insights" });
