// The acts that a run allows now; a client asks here before it calls the routes that carry them out.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { actListSchema } from "../schemas/act.ts";
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
} as const satisfies ApiRoutes;
