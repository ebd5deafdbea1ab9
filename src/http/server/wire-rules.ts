// Answers from the network: bounded, and sending work back requires a reason.

import type { AnswerRules } from "../../app/offered.ts";
import { REASON_CHARS, TEXT_CHARS } from "../contract/schemas/common.ts";

export const WIRE_RULES: AnswerRules = {
  needsReason: true,
  maxChars: { question: TEXT_CHARS, other: REASON_CHARS },
};
