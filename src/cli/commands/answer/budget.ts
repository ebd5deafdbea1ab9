// `budget raise|stop`: a person decides about a run that has reached a limit.

import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { answerItem } from "./answer.ts";

export async function budgetAnswer(
  io: Io,
  answer: "raise" | "stop",
  reference: string | undefined,
  by: string,
): Promise<number> {
  requireOperator(io, `budget ${answer}`);
  const said = answer === "raise" ? `raised${by === "" ? "" : ` by ${by}`}` : "not raised";
  return answerItem(io, { kind: "budget", reference, answer: () => answer, text: by, said });
}
