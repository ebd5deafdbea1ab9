// The daemon's answers about runs, under the names that the pages use.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type RunDetail = AnswerTo<"showRun">;
export type RunStage = RunDetail["stages"][number];
export type RunAttempt = RunStage["attempts"][number];
export type ListedRun = AnswerTo<"listRuns">["runs"][number];
export type ListedEvent = AnswerTo<"runEvents">["events"][number];
export type AttemptFile = AnswerTo<"attemptFile">["file"];
