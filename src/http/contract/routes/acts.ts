// The acts that a run allows now; a client asks here before it calls the routes that carry them out.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { ACTS_OF_AT_MOST, actListSchema, actsOfRunsSchema } from "../schemas/act.ts";
import { runReference } from "../schemas/common.ts";

export const ACT_ROUTES = {
  listActs: {
    method: "get",
    path: "/api/runs/{run}/acts",
    scope: "read",
    tag: "runs",
    summary: "Acts that a person can take on a run now, and the reason for each that is not possible",
    params: z.strictObject({ run: runReference }),
    answer: json(actListSchema, "every act, possible or not"),
    problems: ["run_not_found"],
  },
  listActsOfRuns: {
    method: "get",
    path: "/api/acts",
    scope: "read",
    tag: "runs",
    summary: "The same for several runs, before a person acts on all of them",
    query: z.strictObject({
      runs: z
        .string()
        .max(ACTS_OF_AT_MOST * 40)
        .transform((text) => text.split(","))
        .pipe(z.array(runReference).min(1).max(ACTS_OF_AT_MOST))
        .meta({ description: `ids or numbers with commas between them, at most ${ACTS_OF_AT_MOST}` }),
    }),
    answer: json(actsOfRunsSchema, "in the order of the question; runs that do not exist are left out"),
    problems: ["invalid_query"],
  },
} as const satisfies ApiRoutes;
