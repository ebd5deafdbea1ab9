// Runs: start, list, show, control.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { after, before, flowName, limit, line, numberText, runReference, stageName } from "../schemas/common.ts";
import { eventPageSchema } from "../schemas/event.ts";
import {
  attemptFileSchema,
  controlledAllSchema,
  controlledSchema,
  featureSchema,
  filePartSchema,
  nothingSchema,
  previewRunSchema,
  reasonSchema,
  rerunSchema,
  retrySchema,
  runDetailSchema,
  runPageSchema,
  runPreviewSchema,
  skipSchema,
  handbackSchema,
  startedSchema,
  startRunSchema,
  stopSchema,
  steerSchema,
  takeoverSchema,
} from "../schemas/run.ts";

const run = z.strictObject({ run: runReference });
const FILE_PART = 256 * 1024;

/** A person controls a run. */
const control = <B extends z.ZodType>(verb: string, summary: string, body: B) =>
  ({
    method: "post",
    path: `/api/runs/{run}/${verb}`,
    scope: "operate",
    tag: "runs",
    summary,
    params: run,
    body,
    headers: ["Idempotency-Key"],
    answer: json(controlledSchema, "the run afterwards"),
    problems: ["run_not_found", "run_ended", "action_refused", "reason_required", "idempotency_key_reused"],
  }) as const;

export const RUN_ROUTES = {
  listRuns: {
    method: "get",
    path: "/api/runs",
    scope: "read",
    tag: "runs",
    summary: "Runs, newest first",
    query: z.strictObject({
      status: z.string().max(80).optional().meta({ description: "a canonical status or the source's word" }),
      flow: flowName.optional(),
      q: line(200, "expected 1 to 200 characters of one line")
        .optional()
        .meta({ description: "a text in the title or in the ticket's id, in upper or lower case" }),
      limit,
      before: before.optional(),
    }),
    answer: json(runPageSchema, "one page"),
    problems: ["invalid_query", "invalid_cursor"],
  },
  startRun: {
    method: "post",
    path: "/api/runs",
    scope: "operate",
    tag: "runs",
    summary: "Start a run",
    body: startRunSchema,
    headers: ["Idempotency-Key"],
    answer: json(startedSchema, "the run that was started", 201),
    problems: ["unknown_flow", "flow_invalid", "invalid_title", "run_refused", "idempotency_key_reused"],
  },
  previewRun: {
    method: "post",
    path: "/api/runs/preview",
    scope: "operate",
    tag: "runs",
    summary: "What a start would do: the flow, what was read from its files, and what a person would have to allow",
    body: previewRunSchema,
    answer: json(runPreviewSchema, "nothing is started"),
    problems: ["unknown_flow", "flow_invalid", "run_refused"],
  },
  showRun: {
    method: "get",
    path: "/api/runs/{run}",
    scope: "own-run",
    tag: "runs",
    summary: "One run with its stages, attempts, open items and handoffs",
    params: run,
    answer: json(runDetailSchema, "the run"),
    problems: ["run_not_found"],
  },
  runEvents: {
    method: "get",
    path: "/api/runs/{run}/events",
    scope: "read",
    tag: "runs",
    summary: "Events of a run, oldest first",
    params: run,
    query: z.strictObject({ limit, after: after.default(0) }),
    answer: json(eventPageSchema, "one page"),
    problems: ["run_not_found", "invalid_query", "invalid_cursor"],
  },
  showFeature: {
    method: "get",
    path: "/api/runs/{run}/feature",
    scope: "read",
    tag: "runs",
    summary: "A run as a feature's record: status, revision_count, current_agent, pipeline_log",
    params: run,
    answer: json(featureSchema, "the record"),
    problems: ["run_not_found"],
  },
  attemptFile: {
    method: "get",
    path: "/api/runs/{run}/attempts/{stage}/{attempt}/{file}",
    scope: "read",
    tag: "runs",
    summary:
      "A part of a file of an attempt: prompt, output, events, diff, verdict, handoff, or check-<name> for the output of a check",
    params: z.strictObject({
      run: runReference,
      stage: stageName,
      attempt: numberText(1, 1_000_000, "expected the number of an attempt"),
      file: attemptFileSchema,
    }),
    query: z.strictObject({
      offset: numberText(0, 2 ** 40, "expected bytes from the start").default(0),
      limit: numberText(1, FILE_PART, `expected 1 to ${FILE_PART} bytes`).default(FILE_PART),
    }),
    answer: json(filePartSchema, "the part, cut at a whole character"),
    problems: ["run_not_found", "attempt_not_found", "file_not_found", "invalid_query"],
  },
  cancelRun: control("cancel", "End a run", reasonSchema),
  pauseRun: control("pause", "Pause a run: start no further stage", reasonSchema),
  stopRun: control(
    "stop",
    "End the agents that work on a run now, and pause it: their stages are ready again",
    stopSchema,
  ),
  resumeRun: control("resume", "Resume a paused run", nothingSchema),
  pauseAll: {
    method: "post",
    path: "/api/pause",
    scope: "operate",
    tag: "runs",
    summary:
      "Pause everything: no further stage starts, of open runs and of those that are started later; agents that work finish theirs",
    body: reasonSchema,
    headers: ["Idempotency-Key"],
    answer: json(controlledAllSchema, "the runs that changed"),
    problems: ["idempotency_key_reused"],
  },
  resumeAll: {
    method: "post",
    path: "/api/resume",
    scope: "operate",
    tag: "runs",
    summary: "Resume everything: lift the pause, and resume every paused run",
    body: nothingSchema,
    headers: ["Idempotency-Key"],
    answer: json(controlledAllSchema, "the runs that changed"),
    problems: ["idempotency_key_reused"],
  },
  retryStage: control("retry", "Run a stage again", retrySchema),
  rerunFrom: control("rerun", "Go back to an earlier stage and continue from there", rerunSchema),
  undoLanding: control("undo", "Take back what landed although the run was canceled", nothingSchema),
  steerRun: control("steer", "Say something to the agent at work", steerSchema),
  takeoverRun: control(
    "takeover",
    "End the agent of the current stage; its session and folder are yours",
    takeoverSchema,
  ),
  handbackRun: control("handback", "Hand a stage that was taken over back to its agent", handbackSchema),
  skipStage: control("skip", "Skip a stage; a gate cannot be skipped", skipSchema),
} as const satisfies ApiRoutes;
