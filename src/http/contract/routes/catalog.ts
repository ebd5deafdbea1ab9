// Flows, agents and the cost of work.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { SPENDING_KEYS } from "../../../core/budget/budget.ts";
import {
  agentListSchema,
  flowDetailSchema,
  flowListSchema,
  flowSourceSchema,
  flowStatsSchema,
  insightsSchema,
} from "../schemas/catalog.ts";
import { flowName, runReference } from "../schemas/common.ts";
import { costSchema } from "../schemas/cost.ts";

export const CATALOG_ROUTES = {
  listFlows: {
    method: "get",
    path: "/api/flows",
    scope: "read",
    tag: "catalog",
    summary: "Flows that can be started",
    answer: json(flowListSchema, "all of them"),
    problems: [],
  },
  showFlow: {
    method: "get",
    path: "/api/flows/{flow}",
    scope: "read",
    tag: "catalog",
    summary: "One flow with its stages",
    params: z.strictObject({ flow: flowName }),
    answer: json(flowDetailSchema, "the flow"),
    problems: ["flow_not_found", "flow_invalid"],
  },
  flowSource: {
    method: "get",
    path: "/api/flows/{flow}/source",
    scope: "read",
    tag: "catalog",
    summary: "The text of a flow's file and all problems in it",
    params: z.strictObject({ flow: flowName }),
    answer: json(flowSourceSchema, "text and problems"),
    problems: ["flow_not_found"],
  },
  flowStats: {
    method: "get",
    path: "/api/flows/{flow}/stats",
    scope: "read",
    tag: "catalog",
    summary: "Statistics of the last runs of a flow",
    params: z.strictObject({ flow: flowName }),
    answer: json(flowStatsSchema, "ends, medians, loops"),
    problems: [],
  },
  insights: {
    method: "get",
    path: "/api/insights",
    scope: "read",
    tag: "cost",
    summary: "Where the last runs lose time: loops, waits for people, failures",
    query: z.strictObject({ since: z.iso.datetime().or(z.iso.date()).optional() }),
    answer: json(insightsSchema, "sums"),
    problems: ["invalid_query"],
  },
  listAgents: {
    method: "get",
    path: "/api/agents",
    scope: "read",
    tag: "catalog",
    summary: "Agents: roles with a prompt",
    answer: json(agentListSchema, "all of them"),
    problems: [],
  },
  cost: {
    method: "get",
    path: "/api/cost",
    scope: "read",
    tag: "cost",
    summary: "Usage of attempts: dollars, tokens, time",
    query: z.strictObject({
      by: z.enum(SPENDING_KEYS).default("agent"),
      since: z.iso.datetime().or(z.iso.date()).optional(),
      run: runReference.optional(),
    }),
    answer: json(costSchema, "rows, the most expensive first"),
    problems: ["run_not_found", "invalid_query"],
  },
} as const satisfies ApiRoutes;
