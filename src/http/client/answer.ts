// What came back, as a value: the answer that the route's schema describes, or a problem with a code. Whoever answers may be something
// else than the daemon (a proxy, another program on the port), so nothing is taken for granted.

import { z } from "zod";
import { PROBLEM_TYPE, type ProblemDocument, problemSchema } from "../contract/problem.ts";
import type { RouteAnswer } from "../contract/route.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** Codes of the API, and these of the client's own: daemon_unreachable, daemon_timeout, daemon_answer_unexpected, call_aborted. */
export type ApiProblem = Pick<ProblemDocument, "code" | "detail" | "hint" | "pointer" | "current" | "changed"> & {
  /** 0 where there was no answer. */
  readonly status: number;
  readonly requestId?: string;
};

/** More than the longest page of events or the largest part of a file. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARS = 200;

/** The body as it came, where it fits the schema: fields that a newer daemon adds are kept. */
export async function readAnswer(response: Response, answer: RouteAnswer): Promise<Result<unknown, ApiProblem>> {
  const type = typeOf(response);
  if (!response.ok) return err(await readProblem(response));
  if (answer.type !== "application/json" || type !== "application/json")
    return err(
      unexpected(response, `an answer of the type ${type === "" ? "unknown" : type}`, await readText(response)),
    );
  const text = await readText(response);
  const body = text === undefined ? undefined : parse(text);
  if (body === undefined) return err(unexpected(response, "an answer that is not JSON", text));
  const fits = answer.schema.safeParse(body);
  return fits.success ? ok(body) : err(unexpected(response, `another answer than expected: ${firstFault(fits.error)}`));
}

/** Why a request was refused. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const text = await readText(response);
  const read = typeOf(response) === PROBLEM_TYPE ? problemSchema.safeParse(parse(text ?? "")) : undefined;
  if (read?.success !== true) return unexpected(response, `status ${response.status} without a reason`, text);
  const { type: _type, title: _title, ...problem } = read.data;
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

function firstFault(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim();
}

function typeOf({ headers }: Response): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Undefined where there is more than anybody would send. */
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
