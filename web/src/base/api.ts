// Calls the daemon's API. Throws instead of returning a Result, because queries and mutations expect that.

import type { ApiProblem } from "../../../src/http/client/answer.ts";
import type { CallOptions, CallRoute } from "../../../src/http/client/call.ts";
import type { AnswerTo, InputTo, JsonRouteName } from "../../../src/http/client/input.ts";
import type { Result } from "../../../src/core/result.ts";
import { callWith } from "./caller.ts";
import { currentToken, endSession } from "./session.ts";

/** Why a call failed, in the daemon's words; the code is `daemon_unreachable` if nothing answered. */
export class ApiError extends Error {
  readonly problem: ApiProblem;

  constructor(problem: ApiProblem) {
    super(problem.detail);
    this.name = "ApiError";
    this.problem = problem;
  }
}

const callRoute = callWith(() => currentToken() ?? "") as (
  ...given: Parameters<CallRoute>
) => Promise<Result<unknown, ApiProblem>>;

export async function call<N extends JsonRouteName>(
  name: N,
  input: InputTo<N>,
  options: CallOptions = {},
): Promise<AnswerTo<N>> {
  const answer = await callRoute(name, input, options);
  if (answer.ok) return answer.value as AnswerTo<N>;
  if (answer.error.status === 401) endSession(false);
  throw new ApiError(answer.error.code === "daemon_unreachable" ? UNREACHABLE : answer.error);
}

/** A browser does not say why it could not connect. */
const UNREACHABLE: ApiProblem = {
  code: "daemon_unreachable",
  status: 0,
  detail: "The daemon does not answer.",
  hint: "passrail status",
};
