// The rules for answers that a person types: no maximum length, and a gate needs no comment.

import type { AnswerRules } from "../app/offered.ts";

export const TERMINAL_RULES: AnswerRules = { needsReason: false, maxChars: null };
