// The two tools of a place. They check the form of a call and pass it on; the opener of the place decides. The error of a refused call lets
// the agent correct it.

import type { Json, JsonObject } from "../../core/json.ts";
import { schemaFaults } from "../../core/verdict/fits-schema.ts";
import { isList, isObject } from "../../core/verdict/report-fields.ts";
import type { ClientSide, ReportProgress } from "./client-side.ts";
import { requestOf } from "./permission-request.ts";
import type { DeskAnswer, DeskPlace, DeskQuestion } from "./desk.ts";

export type Tools = {
  /** A description of all the tools, for a client that chooses among them. */
  readonly about?: string;
  list(): readonly Tool[];
  /** The result of a call, or undefined for a tool that is not offered. */
  call(name: string, args: Json, asked: ToolAsked): Promise<JsonObject | undefined>;
  /** What can be read by its address. Absent: the server has none. */
  readonly resources?: Resources;
};

export type ToolAsked = Pick<ClientSide, "signal" | "elicit"> & { readonly progress?: ReportProgress };

export type Resources = {
  list(signal: AbortSignal | undefined): Promise<readonly JsonObject[]>;
  templates(): readonly JsonObject[];
  /** The contents, or undefined for an address that names nothing. */
  read(uri: string, signal: AbortSignal | undefined): Promise<readonly JsonObject[] | undefined>;
};

const MAX_QUESTION_CHARS = 4096;
const MAX_OPTIONS = 20;
const MAX_OPTION_CHARS = 200;

const ASK_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    question: {
      type: "string",
      description:
        "One question that someone can answer who has not read the code, with what you would do without an answer.",
    },
    options: {
      type: "array",
      items: { type: "string" },
      description: "Answers to choose from, where there are a few.",
    },
  },
  required: ["question"],
  additionalProperties: false,
};

/** They destroy and reach nothing of the agent's world, so no client has to ask a person before the call. */
const HINTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

export function createTools(place: DeskPlace, isOpen: () => boolean, onProblem: (text: string) => void): Tools {
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time: the second of two concurrent submissions must see that the first was accepted. */
  const submit = (args: Json): Promise<DeskAnswer> => {
    const mine = last.then(() => (isOpen() ? place.submit(JSON.stringify(args)) : ENDED));
    last = mine.catch(() => {});
    return mine;
  };

  const tools = [
    ...(place.verdictSchema === null ? [] : [submitTool(place.verdictSchema)]),
    ...(place.mayAsk ? [ASK_TOOL] : []),
    ...(place.permit === undefined ? [] : [PERMIT_TOOL]),
  ];

  return {
    list: () => tools,
    async call(name, sent, { signal }) {
      const tool = tools.find((each) => each.name === name);
      if (tool === undefined) return undefined;
      const args = withoutClientKeys(sent);
      const faults = schemaFaults(tool.inputSchema, args);
      if (faults.length > 0 || !isObject(args)) return toResult(notAccepted(faults.join(" ")));
      try {
        if (name === PERMIT_TOOL.name) return await permitted(args, place.permit, isOpen);
        if (name === "submit_verdict") return toResult(await submit(args));
        const question = toQuestion(args);
        return toResult(typeof question === "string" ? notAccepted(question) : await place.ask(question, signal));
      } catch (cause) {
        onProblem(`A call of ${name} failed: ${cause instanceof Error ? cause.message : "unknown error"}`);
        return toResult({
          accepted: false,
          text: "Passrail could not take this because of an internal error. Call once more.",
        });
      }
    },
  };
}

/** Gemini CLI adds this key to every tool for its own scheduling and sends it along; it is not the agent's. */
export function withoutClientKeys(args: Json): Json {
  if (!isObject(args)) return args;
  const { wait_for_previous: _, ...own } = args;
  return own;
}

const ENDED: DeskAnswer = { accepted: false, text: "This attempt has ended; nothing more is taken from it." };

function notAccepted(why: string): DeskAnswer {
  return { accepted: false, text: `Not accepted: ${why} Correct this and call again.` };
}

export type Tool = JsonObject & {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
};

function submitTool(verdictSchema: JsonObject): Tool {
  return {
    name: "submit_verdict",
    title: "Submit the verdict",
    description:
      "Ends your work: hands in your verdict. Call it once, as the last thing that you do. If it is not accepted, the answer says why: correct that and call again.",
    inputSchema: verdictSchema,
    annotations: { title: "Submit the verdict", ...HINTS, idempotentHint: true },
  };
}

const ASK_TOOL: Tool = {
  name: "ask_human",
  title: "Ask a person",
  description: "Asks a person what neither the ticket nor the repository can answer. The answer says how to go on.",
  inputSchema: ASK_SCHEMA,
  annotations: { title: "Ask a person", ...HINTS, idempotentHint: false },
};

/** For the agent's program, not for its model: it calls this where its own rules say "ask". */
const PERMIT_TOOL: Tool = {
  name: "permit",
  title: "Ask for permission",
  description: "Used by your program to ask for permission. Never call it yourself: it grants nothing to you.",
  inputSchema: {
    type: "object",
    properties: { tool_name: { type: "string" }, input: { type: "object" }, tool_use_id: { type: "string" } },
    required: ["tool_name", "input"],
  },
  annotations: { title: "Ask for permission", ...HINTS, idempotentHint: false },
};

/** In the words of Claude Code. What is allowed is the very input that was asked about. */
async function permitted(args: JsonObject, permit: DeskPlace["permit"], isOpen: () => boolean): Promise<JsonObject> {
  const input = isObject(args["input"]) ? args["input"] : {};
  const tool = typeof args["tool_name"] === "string" ? args["tool_name"] : "";
  const decision = await permit?.(requestOf(tool, input));
  const answer =
    decision?.allowed === true && isOpen()
      ? { behavior: "allow", updatedInput: input }
      : { behavior: "deny", message: decision?.why ?? ENDED.text };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], isError: false };
}

function toQuestion(args: JsonObject): DeskQuestion | string {
  const question = typeof args["question"] === "string" ? args["question"].trim() : "";
  const options = isList(args["options"]) ? args["options"].filter((option) => typeof option === "string") : [];
  if (question === "") return '"question" is empty.';
  if (question.length > MAX_QUESTION_CHARS) return `"question" is longer than ${MAX_QUESTION_CHARS} characters.`;
  if (options.length > MAX_OPTIONS)
    return `"options" has ${options.length} entries; at most ${MAX_OPTIONS} are allowed.`;
  const bad = options.findIndex((option) => option.trim() === "" || option.length > MAX_OPTION_CHARS);
  if (bad >= 0) return `"options[${bad}]" must be a text of at most ${MAX_OPTION_CHARS} characters.`;
  return { question, options };
}

/** `claude/endTurn` lets Claude Code stop right after an accepted call instead of asking its model once more. */
function toResult({ accepted, text, goesOn }: DeskAnswer): JsonObject {
  const content = [{ type: "text", text }];
  if (goesOn === true) return { content, isError: false };
  return accepted ? { content, isError: false, _meta: { "claude/endTurn": true } } : { content, isError: true };
}
