// Reads a problem document without a schema. The daemon that answers served this page, so a code and a detail are enough.

import type { ProblemBody } from "../../../src/http/client/answer.ts";

export function problemIn(body: unknown): ProblemBody | undefined {
  return typeof body === "object" && body !== null && "code" in body && "detail" in body
    ? (body as ProblemBody)
    : undefined;
}
