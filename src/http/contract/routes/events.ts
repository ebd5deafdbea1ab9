// Live events, as server-sent events.

import { z } from "zod";
import type { ApiRoutes } from "../route.ts";
import { runReference } from "../schemas/common.ts";

const kinds = z
  .string()
  .max(500)
  .regex(/^[a-z_.]{1,40}(,[a-z_.]{1,40}){0,19}$/, "expected names of events, separated by commas, such as handoff,run")
  .transform((text) => text.split(","));

export const EVENT_ROUTES = {
  events: {
    method: "get",
    path: "/api/events",
    scope: "read",
    tag: "events",
    summary: "Live events; the header Last-Event-ID replays missed ones",
    query: z.strictObject({
      after: z
        .string()
        .max(20)
        .optional()
        .meta({ description: "as Last-Event-ID, for clients that cannot set headers" }),
      run: runReference.optional(),
      ticket: z.string().min(1).max(200).optional(),
      kind: kinds.optional().meta({ description: "names of events or of their family: handoff, run, stage.finished" }),
    }),
    answer: { status: 200, description: "a stream without end", type: "text/event-stream" },
    problems: ["invalid_last_event_id", "invalid_query", "run_not_found", "too_many_streams"],
  },
} as const satisfies ApiRoutes;
