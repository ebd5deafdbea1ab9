// The status mirror: whether it is in step.

import { json, type ApiRoutes } from "../route.ts";
import { statusMirrorSchema } from "../schemas/status-mirror.ts";

export const STATUS_MIRROR_ROUTES = {
  showStatusMirror: {
    method: "get",
    path: "/api/status-mirror",
    scope: "read",
    tag: "system",
    summary: "Whether the database that gets the status of features is in step, and since when it is behind",
    answer: json(statusMirrorSchema, "its state"),
    problems: [],
  },
} as const satisfies ApiRoutes;
