// The fields of a submission as JSON Schema, each with a sentence for the model. Only types, enums, lists and objects: at some vendors one
// further keyword in a tool fails the whole request.

import type { Flow, WorkStage } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { DISPOSITIONS, HEALTHS } from "../flow/outcome.ts";

/** The words that this stage may conclude with, as its flow spells them. */
export function wordsOf(flow: Flow, stage: WorkStage): readonly string[] {
  return stage.verdicts ?? Object.keys(flow.words.verdict);
}

/** A child of the agent's program may find the token of its desk, but not the prompt. */
export const NONCE_FIELD: JsonObject = {
  type: "string",
  description: "The nonce of this attempt, copied from the end of your last prompt.",
};

/** "any": the form that every attempt of the stage is offered. A list that grows would change the tool, and with it all that a vendor's cache holds after it. */
export type FindingIds = readonly string[] | "any";

export function agentFields(flow: Flow, stage: WorkStage, findingIds: FindingIds): JsonObject {
  const words = wordsOf(flow, stage);
  const isBlaming = Object.values(stage.route).some(({ onlyBlamed }) => onlyBlamed);
  const tracks = flow.stages.flatMap((each) => (each.kind === "parallel" ? Object.keys(each.tracks) : []));
  return {
    ...(words.length === 0 ? {} : { verdict: verdictField(flow, stage, words) }),
    ...healthFields("what you did and saw, in at most five lines"),
    ...(Object.keys(flow.words.score).length === 0 ? {} : { score: scoreField(flow) }),
    issues: list(
      object(
        {
          severity: word("How bad it is.", ["critical", "major", "minor"]),
          description: text("What goes wrong, when, and what would settle it."),
          file: text("Path in the workspace."),
          line: { type: "integer", description: "Line in that file." },
        },
        ["description"],
      ),
      "Findings, worst first. Whoever fixes them gets these and nothing else, so each is complete in itself.",
    ),
    ...(findingIds.length === 0 ? {} : { findings: findingsField(stage, findingIds) }),
    ...payloadField(stage),
    handoff_path: text(
      "The handoff document that you wrote, relative to the workspace. Leave it out if you wrote none.",
    ),
    dod: list(
      object(
        {
          criterion: text("The row of the Definition of Done, word for word."),
          met: { type: "boolean", description: "true only if you saw it." },
          evidence: text("path:line, or the test that shows it."),
        },
        ["criterion", "met"],
      ),
      "Rows of the Definition of Done that you account for.",
    ),
    gates: list(
      object(
        {
          name: text("Name of the check, for example lint."),
          passed: { type: "boolean", description: "Whether it passed." },
          command: text("The command line that you ran."),
          exit_code: { type: "integer", description: "Its exit code." },
          evidence: text("The tool's own summary line, copied."),
        },
        ["name", "passed", "evidence"],
      ),
      "Quality gates that you ran.",
    ),
    ...(!isBlaming || tracks.length === 0
      ? {}
      : { blame: list(word("Name of a track.", tracks), "Tracks that have to work again, if not all of them.") }),
    next_agent: text("Who should come next, in your view. A note: the pipeline decides."),
    status_update: text("The status that you would give. A note: the pipeline decides."),
  };
}

export function routerFields(knownAgents: readonly string[]): JsonObject {
  return {
    stages: list(
      object(
        {
          agent: word("Name of an agent.", knownAgents),
          teams: { type: "boolean", description: "Whether it works as a team." },
        },
        ["agent"],
      ),
      "The stages in the order in which they run, at least one.",
    ),
    ...healthFields("why these stages, in at most five lines"),
  };
}

function healthFields(summary: string): JsonObject {
  return {
    health: word(
      "Leave it out, or complete, when you did your job, whatever you found. blocked: only a person can answer what you need. " +
        "failed: an error that you cannot get past. incomplete: some of the work is left.",
      HEALTHS,
    ),
    summary: text(`For people and later stages: ${summary}.`),
    reason: text("One line: why the health is not complete. Required then."),
    questions: list(text("One question."), "For health blocked: each answerable by someone who has not read the code."),
  };
}

function verdictField(flow: Flow, stage: WorkStage, words: readonly string[]): JsonObject {
  const meanings = words.map((each) => `${each} (${flow.words.verdict[each] ?? "unknown"})`).join(", ");
  const need = stage.expectsVerdict ? "Required, unless health is blocked, failed or incomplete" : "If you have one";
  return word(`${need}. Your conclusion, spelled exactly so: ${meanings}.`, words);
}

/** A judge closes or keeps each finding; the agent that works on them reports what it did. */
function findingsField(stage: WorkStage, ids: FindingIds): JsonObject {
  const id = word("The id of an earlier finding, from your prompt.", ids === "any" ? [] : ids);
  if (stage.findings === undefined)
    return list(
      object({ id, note: text("What you did about it, or why nothing.") }, ["id", "note"]),
      "One entry per open finding.",
    );
  const state = word("fixed: you saw that it is mended. not_fixed: it is not. withdrawn: it was wrong.", DISPOSITIONS);
  const reason = text("How you know. Required unless it is fixed.");
  return list(
    object({ id, state, reason }, ["id", "state"]),
    "One entry per open finding of your earlier reviews, before anything new. New findings go into issues, without an id.",
  );
}

function scoreField(flow: Flow): JsonObject {
  const ranges = Object.entries(flow.words.score).map(([verdict, [low, high]]) => `${low} to ${high} ${verdict}`);
  return {
    type: "number",
    description: `Fits the verdict: ${ranges.join(", ")}. If the two disagree, the worse one counts.`,
  };
}

/** Without keys there is no payload: some vendors refuse an object without named properties. */
function payloadField(stage: WorkStage): JsonObject {
  const keys = stage.result.from === "prefix" ? ["text"] : stage.payload;
  if (keys.length === 0) return {};
  const texts: JsonObject = { type: "array", items: { type: "string" }, description: "A sentence each." };
  const value: JsonObject = {
    anyOf: [
      { type: "string" },
      { type: "boolean" },
      { type: "number" },
      { type: "array", items: { type: "string" } },
      // Notes for later agents, by kind: the one nested value that payloads have.
      object(Object.fromEntries(["learnings", "gotchas", "decisions"].map((key) => [key, texts])), []),
    ],
  };
  const description =
    stage.result.from === "prefix"
      ? "text: all that would follow the opening word of your answer."
      : `Needed to pass the work on: ${keys.join(", ")}.`;
  return { payload: { ...object(Object.fromEntries(keys.map((key) => [key, value])), []), description } };
}

export function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }), additionalProperties: false };
}

function list(items: JsonObject, description: string): JsonObject {
  return { type: "array", items, description };
}

function text(description: string): JsonObject {
  return { type: "string", description };
}

function word(description: string, words: readonly string[]): JsonObject {
  return { type: "string", ...(words.length === 0 ? {} : { enum: words }), description };
}
