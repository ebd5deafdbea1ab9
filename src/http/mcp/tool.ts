// A tool of the operator: a name, an input, and one call of the API with the rights of the token. It grants no rights.

import type { z } from "zod";
import type { ApiProblem } from "../client/answer.ts";
import type { Caller } from "../client/client.ts";
import type { Result } from "../../core/result.ts";
import type { ToolAsked } from "../../runner/desk/tools.ts";

export type OperatorTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** looks: changes nothing. acts: changes runs. ends: cannot be undone. */
  readonly effect: "looks" | "acts" | "ends";
  readonly input: z.ZodObject;
  readonly call: (
    client: Caller,
    args: never,
    signal: AbortSignal | undefined,
    asked: ToolAsked,
  ) => Promise<Result<unknown, ApiProblem>>;
};

/** Keeps the types of a tool's input for its call. */
export function tool<S extends z.ZodObject>(
  definition: Omit<OperatorTool, "input" | "call"> & {
    readonly input: S;
    readonly call: (
      client: Caller,
      args: z.output<S>,
      signal: AbortSignal | undefined,
      asked: ToolAsked,
    ) => Promise<Result<unknown, ApiProblem>>;
  },
): OperatorTool {
  return definition;
}

/** For the options of a call: empty without a signal. */
export const until = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
