// Answers that a person types: as long as they like, and a gate may be closed without words.

import type { AnswerRules } from "../app/offered.ts";

export const TERMINAL_RULES: AnswerRules = { needsReason: false, maxChars: null };
