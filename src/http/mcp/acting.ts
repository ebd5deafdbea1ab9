// Tools that change runs. The API decides whether the token may; an answer is bound to the version that the caller saw.

import { z } from "zod";
import { WORKSPACE_MODES } from "../../core/flow/workspace-mode.ts";
import { DECIDE_ITEM } from "./deciding.ts";
import { tool, until } from "./tool.ts";
import { RUN } from "./waiting.ts";
import { optional } from "../../core/optional.ts";

const run = z.string().describe(RUN);
const reason = z.string().optional().describe("why; it is recorded");

/** Each call has its own key: a request that is lost on the way is sent again and takes effect once. */
export const ACTING = [
  tool({
    name: "start_run",
    title: "Start a run",
    description: "Starts a run of a flow on a task. Agents begin to work at once, which costs money. Then: wait_for.",
    effect: "acts",
    input: z.strictObject({
      flow: z.string().describe("from list_flows, or a family such as build-plan: its files choose the flow"),
      title: z.string().describe("the task in one line"),
      body: z.string().optional().describe("the task in full, Markdown"),
      id: z.string().optional().describe("the ticket's own id, where it has one"),
      input: z
        .looseObject({})
        .optional()
        .describe('facts and files of the project, by name: {"plan.spec": "docs/spec.md"}'),
      workspace: z.enum(WORKSPACE_MODES).optional().describe("where agents work; without it as the flow says"),
      allow: z
        .array(z.enum(["dirty", "branch"]))
        .optional()
        .describe("only if the person agreed: start although files are not committed, or from another branch"),
      repositories: z
        .array(z.string())
        .optional()
        .describe("folders of the project that are repositories of their own and part of the work: backend, frontend"),
    }),
    call: (client, { body, id, input, workspace, allow, repositories, ...task }, signal) =>
      client.call(
        "startRun",
        {
          body: {
            ...task,
            ...optional({ body, id, input, workspace, allow, repositories }),
          },
        },
        until(signal),
      ),
  }),
  tool({
    name: "answer_item",
    title: "Answer what waits for a person",
    description:
      "Decides in the person's name: a gate, a question, a choice, an escalation, a budget. Only when the person told you what to answer. Needs the version from show_item; where it has changed since, look again.",
    effect: "ends",
    input: z.strictObject({
      item: z.string().describe("RUN.NUMBER"),
      // No asterisk: over MCP a caller cannot decide on a version that it has not read.
      version: z
        .string()
        .regex(/^[A-Za-z0-9.-]{1,80}$/, "expected the version that show_item gave")
        .describe("from show_item"),
      answer: z.string().optional().describe("one of its `answers`; left out where a text is asked for"),
      text: z.string().optional().describe("the answer in words, a comment, a reason or an amount"),
    }),
    call: (client, { item, version, answer = "", text = "" }, signal) =>
      client.call("answerItem", { params: { item }, body: { answer, text } }, { ifMatch: version, ...until(signal) }),
  }),
  DECIDE_ITEM,
  tool({
    name: "cancel_run",
    title: "Cancel a run",
    description: "Ends a run for good; whatever works for it is ended.",
    effect: "ends",
    input: z.strictObject({ run, reason }),
    call: (client, args, signal) =>
      client.call("cancelRun", { params: { run: args.run }, body: { reason: args.reason ?? "" } }, until(signal)),
  }),
  tool({
    name: "pause_run",
    title: "Pause a run",
    description: "Lets nothing more of a run start; what works may finish.",
    effect: "acts",
    input: z.strictObject({ run, reason }),
    call: (client, args, signal) =>
      client.call("pauseRun", { params: { run: args.run }, body: { reason: args.reason ?? "" } }, until(signal)),
  }),
  tool({
    name: "resume_run",
    title: "Resume a run",
    description: "Resumes a paused run.",
    effect: "acts",
    input: z.strictObject({ run }),
    call: (client, params, signal) => client.call("resumeRun", { params, body: {} }, until(signal)),
  }),
  tool({
    name: "steer_run",
    title: "Say something to the agent at work",
    description:
      "Passes a person's message to the agent that works on a stage of a run: at its next step, at the end of its turn, or with the next attempt. show_run says what became of it.",
    effect: "acts",
    input: z.strictObject({
      run,
      text: z.string().describe("the message, in the person's words"),
      stage: z.string().optional().describe("which, where several are current"),
    }),
    call: (client, { run: reference, text, stage }, signal) =>
      client.call("steerRun", { params: { run: reference }, body: { text, ...optional({ stage }) } }, until(signal)),
  }),
  tool({
    name: "take_over_run",
    title: "Take over a stage",
    description:
      "Ends the agent of the current stage; its session and its folder are the person's until hand_back_run. show_run then has `takeover`: the folder, and the command that opens the session.",
    effect: "acts",
    input: z.strictObject({ run, stage: z.string().optional().describe("which, where several are current") }),
    call: (client, { run: reference, stage }, signal) =>
      client.call("takeoverRun", { params: { run: reference }, body: { ...optional({ stage }) } }, until(signal)),
  }),
  tool({
    name: "hand_back_run",
    title: "Hand back a stage",
    description:
      "Gives a stage that a person took over back to its agent: their changes are committed, and the agent continues in its session with the note.",
    effect: "acts",
    input: z.strictObject({
      run,
      note: z.string().optional().describe("what was done and what remains, for the agent"),
      discard: z.boolean().optional().describe("continue without the changes; a ref keeps them"),
    }),
    call: (client, { run: reference, note = "", discard = false }, signal) =>
      client.call("handbackRun", { params: { run: reference }, body: { note, discard } }, until(signal)),
  }),
  tool({
    name: "retry_stage",
    title: "Retry a stage",
    description: "Makes the current stage of a run work again.",
    effect: "acts",
    input: z.strictObject({
      run,
      stage: z.string().optional().describe("which, where several are current"),
      note: z.string().optional().describe("a note for the next attempt"),
      agents: z
        .record(z.string(), z.string())
        .optional()
        .describe('other runners for stages or agents of this run: { "build": "codex" }'),
    }),
    call: (client, { run: reference, stage, note = "", agents }, signal) =>
      client.call(
        "retryStage",
        { params: { run: reference }, body: { note, ...optional({ stage, agents }) } },
        until(signal),
      ),
  }),
];
