// Tools that only read: runs, the inbox, logs, flows, and cost.

import { z } from "zod";
import { ATTEMPT_FILES } from "../contract/schemas/run.ts";
import type { Caller } from "../client/client.ts";
import { SPENDING_KEYS } from "../../core/budget/budget.ts";
import { err, ok } from "../../core/result.ts";
import { tool, until } from "./tool.ts";
import { RUN, waitFor } from "./waiting.ts";

const LOG_BYTES = 20_000;
const MOST_LOG_BYTES = 50_000;

const run = z.string().describe(RUN);

export const LOOKING = [
  tool({
    name: "list_runs",
    title: "List runs",
    description: "Runs, newest first. `next` of the answer is `before` for the next page.",
    effect: "looks",
    input: z.strictObject({
      status: z
        .string()
        .optional()
        .describe("running, waiting, stopped, completed, canceled, or the flow's own word for it"),
      flow: z.string().optional().describe("only runs of this flow"),
      limit: z.int().min(1).max(100).default(20).describe("1 to 100, without it 20"),
      before: z.int().min(1).optional().describe("`next` of an earlier page"),
    }),
    call: (client, query, signal) => client.call("listRuns", { query }, until(signal)),
  }),
  tool({
    name: "show_run",
    title: "Show a run",
    description: "One run: its stages, attempts with verdicts, counters, cost, and what waits for a person.",
    effect: "looks",
    input: z.strictObject({ run }),
    call: (client, params, signal) => client.call("showRun", { params }, until(signal)),
  }),
  tool({
    name: "wait_for",
    title: "Wait for a run",
    description:
      "Waits until a run needs a person or has ended, at most as long as you say. `reached` is false where it still works: call again.",
    effect: "looks",
    input: z.strictObject({
      run,
      seconds: z.number().min(1).max(300).default(45).describe("1 to 300, without it 45"),
    }),
    call: (client, { run: reference, seconds }, _signal, asked) => waitFor(client, reference, seconds * 1000, asked),
  }),
  tool({
    name: "run_log",
    title: "Read what an attempt wrote",
    description:
      "A part of a file of an attempt: its output, prompt, diff, verdict or handoff. Without stage and attempt the last one; without offset the end of the file.",
    effect: "looks",
    input: z.strictObject({
      run,
      stage: z.string().optional().describe("the stage's id"),
      attempt: z.int().min(1).optional().describe("its number within the stage"),
      file: z.enum(ATTEMPT_FILES).default("output").describe("without it the output"),
      offset: z.int().min(0).optional().describe("bytes from the start; `next` of an earlier part"),
      limit: z.int().min(1).max(MOST_LOG_BYTES).default(LOG_BYTES).describe(`bytes, without it ${LOG_BYTES}`),
    }),
    call: async (client, args, signal) => readLog(client, args, signal),
  }),
  tool({
    name: "list_inbox",
    title: "List what waits for a person",
    description:
      "Gates, questions, choices, escalations and reached budgets, oldest first, each with its version. `looseEnds` is what else waits: unmerged work, stopped runs, blocked tickets, broken files, files that wait for trust, each with the commands that settle it.",
    effect: "looks",
    input: z.strictObject({}),
    call: (client, _args, signal) => client.call("listInbox", {}, until(signal)),
  }),
  tool({
    name: "show_item",
    title: "Show what waits",
    description: "One item of the inbox: what is asked, what may be answered, and the version that an answer needs.",
    effect: "looks",
    input: z.strictObject({ item: z.string().describe("RUN.NUMBER, from list_inbox") }),
    call: (client, params, signal) => client.call("showItem", { params }, until(signal)),
  }),
  tool({
    name: "list_flows",
    title: "List flows",
    description: "Flows that can be started.",
    effect: "looks",
    input: z.strictObject({}),
    call: (client, _args, signal) => client.call("listFlows", {}, until(signal)),
  }),
  tool({
    name: "show_flow",
    title: "Show a flow",
    description: "One flow: its stages, who works there, and how often it may loop.",
    effect: "looks",
    input: z.strictObject({ flow: z.string() }),
    call: (client, params, signal) => client.call("showFlow", { params }, until(signal)),
  }),
  tool({
    name: "list_agents",
    title: "List agents",
    description: "The roles that flows are made of.",
    effect: "looks",
    input: z.strictObject({}),
    call: (client, _args, signal) => client.call("listAgents", {}, until(signal)),
  }),
  tool({
    name: "cost",
    title: "What work has cost",
    description: "Dollars and tokens that attempts used. What is not known is counted beside the sums.",
    effect: "looks",
    input: z.strictObject({
      by: z.enum(SPENDING_KEYS).default("agent").describe("without it by agent"),
      since: z.string().optional().describe("a day or a time: 2026-01-31"),
      run: z.string().optional().describe(RUN),
    }),
    call: (client, query, signal) => client.call("cost", { query }, until(signal)),
  }),
];

type LogArgs = {
  readonly run: string;
  readonly stage?: string | undefined;
  readonly attempt?: number | undefined;
  readonly file: (typeof ATTEMPT_FILES)[number];
  readonly offset?: number | undefined;
  readonly limit: number;
};

async function readLog(client: Caller, args: LogArgs, signal: AbortSignal | undefined) {
  const which = await findAttempt(client, args, signal);
  if (!which.ok) return which;
  const params = { run: args.run, ...which.value, file: args.file };
  const part = (offset: number, limit: number) =>
    client.call("attemptFile", { params, query: { offset, limit } }, until(signal));
  if (args.offset !== undefined) return part(args.offset, args.limit);
  const start = await part(0, args.limit);
  if (!start.ok || start.value.next === null) return start;
  return part(Math.max(0, start.value.size - args.limit), args.limit);
}

/** The named attempt; by default the one that started last. */
async function findAttempt(
  client: Caller,
  { run: reference, stage, attempt }: LogArgs,
  signal: AbortSignal | undefined,
) {
  if (stage !== undefined && attempt !== undefined) return ok({ stage, attempt });
  const shown = await client.call("showRun", { params: { run: reference } }, until(signal));
  if (!shown.ok) return shown;
  const [last] = shown.value.stages
    .flatMap((each) => (stage === undefined || each.id === stage ? each.attempts : []))
    .filter((each) => each.startedAt !== null && (attempt === undefined || each.attempt === attempt))
    .toSorted((a, b) => (b.startedAt ?? "").localeCompare(a.startedAt ?? ""));
  if (last !== undefined) return ok({ stage: last.stage, attempt: last.attempt });
  return err({ code: "attempt_not_found", detail: "No such attempt has been started.", hint: "show_run", status: 404 });
}
