// Types of runs, taken from the daemon's answers.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type RunDetail = AnswerTo<"showRun">;
export type RunStage = RunDetail["stages"][number];
export type RunAttempt = RunStage["attempts"][number];
export type ListedRun = AnswerTo<"listRuns">["runs"][number];
export type ListedEvent = AnswerTo<"runEvents">["events"][number];
export type AttemptFile = AnswerTo<"attemptFile">["file"];
