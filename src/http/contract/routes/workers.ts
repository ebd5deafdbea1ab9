// Processes that execute attempts: their views for people, and the requests of workers on other machines to their node.

import { z } from "zod";
import { WORKER_NAME_PATTERN } from "../../../core/worker/wire.ts";
import { json, type ApiRoutes } from "../route.ts";
import {
  claimParams,
  deliveredWorkSchema,
  deliverWorkSchema,
  fetchCommitsSchema,
  polledWorkSchema,
  pollWorkSchema,
  steeredWorkerSchema,
  steerWorkerSchema,
  workerListSchema,
} from "../schemas/worker.ts";

export const WORKER_ROUTES = {
  listWorkers: {
    method: "get",
    path: "/api/workers",
    scope: "read",
    tag: "system",
    summary: "Workers: their slots, labels and state, and what each runs since when",
    answer: json(workerListSchema, "all of them"),
    problems: [],
  },
  steerWorker: {
    method: "post",
    path: "/api/workers/{worker}",
    scope: "operate",
    tag: "system",
    summary: "Cordon a worker (it gets nothing new), drain it (it also leaves when it is done), or open it again",
    params: z.strictObject({ worker: z.string().regex(WORKER_NAME_PATTERN, "expected the name of a worker") }),
    body: steerWorkerSchema,
    headers: ["Idempotency-Key"],
    answer: json(steeredWorkerSchema, "its state from now on"),
    problems: ["worker_not_found", "idempotency_key_reused"],
  },
  pollWork: {
    method: "post",
    path: "/api/worker/poll",
    scope: "claim",
    tag: "system",
    summary: "A worker says that it is there and what it holds, and waits for work; a sign of life",
    body: pollWorkSchema,
    answer: json(polledWorkSchema, "what it has to do"),
    problems: ["worker_version", "worker_name_taken", "label_not_allowed", "no_workers"],
  },
  deliverWork: {
    method: "post",
    path: "/api/worker/claims/{claim}/messages",
    scope: "claim",
    tag: "system",
    summary: "A worker's log, facts, usage, questions, commits and report; each message counts once",
    params: claimParams,
    body: deliverWorkSchema,
    answer: json(deliveredWorkSchema, "how far they were taken"),
    problems: ["claim_lost", "node_starting", "no_workers"],
  },
  fetchCommits: {
    method: "post",
    path: "/api/worker/claims/{claim}/commits",
    scope: "claim",
    tag: "system",
    summary: "The commits that an attempt begins at, as a git bundle without those that the worker has",
    params: claimParams,
    body: fetchCommitsSchema,
    answer: { status: 200, description: "a git bundle", type: "application/octet-stream" },
    problems: ["claim_lost", "commits_refused", "no_workers"],
  },
} as const satisfies ApiRoutes;
