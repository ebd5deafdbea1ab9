// Flows and agents as lists for people who choose.

import { z } from "zod";
import { way } from "./common.ts";

const flowSummarySchema = z
  .object({
    name: z.string(),
    title: z.string(),
    file: z.string(),
    origin: z.string().meta({ description: "shipped with the product, or the project's own" }),
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
  })
    statuses: z.array(z.string()).meta({ description: "its status words, in the order of its way" }),
    story: z
      .object({
        agents: z.array(z.string()).meta({ description: "those who work, in order" }),
        entry: z.string().nullable(),
        exit: z.string().nullable(),
      })
      .nullable()
      .meta({ description: "null where agents do not hand over by the handoffs API" }),
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
