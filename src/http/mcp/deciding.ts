// Lets the person at the client decide, in a form of the client. The model chooses which item; what is answered never passes through it.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Elicitation } from "../../runner/desk/client-side.ts";
import type { ToolAsked } from "../../runner/desk/tools.ts";
import type { ApiProblem } from "../client/answer.ts";
import type { Caller } from "../client/client.ts";
import { tool, until } from "./tool.ts";

const MAX_MESSAGE_CHARS = 4000;
const VERSION = /^[A-Za-z0-9.-]{1,80}$/u;

export const DECIDE_ITEM = tool({
  name: "decide_item",
  title: "Let the person decide",
  description:
    "Shows the person a form with what waits, its evidence and the possible answers, and passes on what they choose. Use it instead of answer_item where the client has forms; if it has none, the error says so.",
  effect: "ends",
  input: z.strictObject({ item: z.string().describe("RUN.NUMBER, from list_inbox") }),
  call: (client, { item }, _signal, asked) => decide(client, item, asked),
});

async function decide(
  client: Caller,
  item: string,
  { signal, elicit }: ToolAsked,
): Promise<Result<unknown, ApiProblem>> {
  if (elicit === undefined) return err(NO_FORMS);
  const shown = await client.call("showItem", { params: { item } }, until(signal));
  if (!shown.ok) return shown;
  const said = await elicit(formOf(shown.value));
  if (said.action !== "accept") return ok({ decided: false, why: said.action });
  const text = textOf(said.content["text"]);
  const answer = textOf(said.content["answer"]);
  // The form shows one version; the API refuses the answer if that is no longer the current one.
  if (!VERSION.test(said.state)) return err(STALE_FORM);
  const given = await client.call(
    "answerItem",
    { params: { item }, body: { answer, text } },
    { ifMatch: said.state, ...until(signal) },
  );
  return given.ok ? ok({ decided: true, by: "the person, in the client's form", ...given.value }) : given;
}

type Asked = {
  readonly version: string;
  readonly kind: string;
  readonly subject: { readonly title: string };
  readonly asks: readonly string[];
  readonly answers: readonly string[];
  readonly leads: readonly { readonly answer: string; readonly to: string }[];
  readonly spent: { readonly usd: number | null };
  readonly work: readonly { readonly branch: string; readonly commits: number }[];
  readonly evidence: {
    readonly stages: readonly { readonly stage: string; readonly by: string; readonly exitCode: number | null }[];
  };
};

function formOf({ version, kind, subject, asks, answers, leads, spent, work, evidence }: Asked): Elicitation {
  const lines = [
    `${kind}: ${subject.title}`,
    ...asks,
    ...work.map(({ branch, commits }) => `branch ${branch}: ${commits} commits`),
    ...evidence.stages.flatMap(({ stage, by, exitCode }) =>
      by === "check" ? [`check ${stage}: ${exitCode === 0 ? "passed" : `exit code ${exitCode ?? "unknown"}`}`] : [],
    ),
    ...(spent.usd === null ? [] : [`cost so far: $${spent.usd.toFixed(2)}`]),
    ...leads.filter(({ answer }) => answer !== "").map(({ answer, to }) => `${answer}: continues with ${to}`),
  ];
  const text = { type: "string", title: answers.length === 0 ? "Answer" : "Comment or reason" };
  const properties: JsonObject =
    answers.length === 0 ? { text } : { answer: { type: "string", title: "Answer", enum: answers }, text };
  return {
    message: visible(lines.join("\n")).slice(0, MAX_MESSAGE_CHARS),
    requestedSchema: { type: "object", properties, required: [answers.length === 0 ? "text" : "answer"] },
    state: version,
  };
}

/** Agents and tickets wrote parts of it: invisible characters are shown as marks. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, (hidden) =>
    hidden === "\n" ? hidden : "\u{fffd}",
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const NO_FORMS: ApiProblem = {
  code: "elicitation_unsupported",
  detail: "This client cannot show its person a form over this connection.",
  hint: "Read show_item to the person, ask them, then call answer_item with what they decided.",
  status: 0,
};

const STALE_FORM: ApiProblem = {
  code: "form_unbound",
  detail: "The answer came back without the version that the form showed.",
  hint: "Call decide_item again.",
  status: 0,
};
