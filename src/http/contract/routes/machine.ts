// The runners and the project of this machine, and the demo.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { demoSchema, projectSchema, runnersSchema } from "../schemas/machine.ts";

export const MACHINE_ROUTES = {
  listRunners: {
    method: "get",
    path: "/api/runners",
    scope: "read",
    tag: "system",
    summary: "Programs on this machine that can play agents: version, login, next step",
    answer: json(runnersSchema, "the programs checked so far"),
    problems: [],
  },
  showProject: {
    method: "get",
    path: "/api/project",
    scope: "read",
    tag: "system",
    summary: "The folder that the daemon works on",
    answer: json(projectSchema, "the folder"),
    problems: [],
  },
  startDemo: {
    method: "post",
    path: "/api/demo",
    scope: "operate",
    tag: "system",
    summary: "Start two runs with scripted agents in a scratch repository: no key, no network",
    body: z.strictObject({}),
    headers: ["Idempotency-Key"],
    repeat: "refuse",
    answer: json(demoSchema, "the runs", 201),
    problems: ["run_refused", "idempotency_key_reused", "idempotency_key_spent"],
  },
} as const satisfies ApiRoutes;
