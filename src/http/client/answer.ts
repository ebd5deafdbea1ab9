// Turns a response into a value: the route's answer, or a problem with a code. Another program may answer (a proxy, or one that took the
// port), so the caller passes checks of the answers it accepts. Without schemas, so that browsers can load it.

import type { ProblemDocument } from "../contract/problem.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** Codes of the API, plus the client's own: daemon_unreachable, daemon_timeout, daemon_answer_unexpected, call_aborted. */
export type ApiProblem = Pick<
  ProblemDocument,
  "code" | "detail" | "hint" | "pointer" | "current" | "changed" | "decided"
> & {
  /** 0 if nothing answered. */
  readonly status: number;
  readonly requestId?: string;
};

export type ProblemBody = Omit<ApiProblem, "status">;

/** Returns the problem in a body of the type application/problem+json, or undefined if the body is something else. */
export type ReadProblem = (body: unknown) => ProblemBody | undefined;

/** Larger than the longest page of events or the largest part of a file. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARS = 200;

/** Returns the body unchanged if `faultOf` finds nothing, so that fields of a newer daemon are kept. */
export async function readAnswer(
  response: Response,
  faultOf: (body: unknown) => string | undefined,
  toProblem: ReadProblem,
): Promise<Result<unknown, ApiProblem>> {
  if (!response.ok) return err(await readProblem(response, toProblem));
  const type = typeOf(response);
  const text = await readText(response);
  if (type !== "application/json")
    return err(unexpected(response, `an answer of the type ${type === "" ? "unknown" : type}`, text));
  const body = text === undefined ? undefined : parse(text);
  if (body === undefined) return err(unexpected(response, "an answer that is not JSON", text));
  const fault = faultOf(body);
  return fault === undefined ? ok(body) : err(unexpected(response, `another answer than expected: ${fault}`));
}

/** Why the daemon refused a request. */
export async function readProblem(response: Response, toProblem: ReadProblem): Promise<ApiProblem> {
  const text = await readText(response);
  const problem = typeOf(response) === "application/problem+json" ? toProblem(parse(text ?? "")) : undefined;
  if (problem === undefined) return unexpected(response, `status ${response.status} without a reason`, text);
  return { ...problem, status: response.status };
}

function unexpected({ status, url }: Response, what: string, text?: string): ApiProblem {
  const begins = text === undefined || text === "" ? "" : ` It begins: ${JSON.stringify(text.slice(0, SHOWN_CHARS))}`;
  return {
    code: "daemon_answer_unexpected",
    detail: `${origin(url)} gave ${what}.${begins}`,
    hint: "Is it a Passrail daemon of this version? passrail status",
    status,
  };
}

function origin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "The server";
}

function typeOf({ headers }: Response): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Undefined if the body is larger than any answer of the daemon. */
async function readText({ body }: Response): Promise<string | undefined> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
