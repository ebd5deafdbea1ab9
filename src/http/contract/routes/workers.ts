// Processes that execute attempts.

import { json, type ApiRoutes } from "../route.ts";
import { workerListSchema } from "../schemas/worker.ts";

export const WORKER_ROUTES = {
  listWorkers: {
    method: "get",
    path: "/api/workers",
    scope: "read",
    tag: "system",
    summary: "Workers: their slots, and what each runs since when",
    answer: json(workerListSchema, "all of them"),
    problems: [],
  },
} as const satisfies ApiRoutes;
