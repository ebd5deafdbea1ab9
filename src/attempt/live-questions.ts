// A question of the agent at its desk, asked of a person while the agent waits. It is in the Inbox from the first moment. An answer in time
// goes back to the agent; otherwise the attempt ends with the question, which keeps its place in the Inbox.

import { createHash } from "node:crypto";
import type { LiveAnswer } from "../core/run/live-question.ts";
import type { AgentEvent } from "../runner/runner.ts";
import type { AskPeople } from "./ask-people.ts";
import type { AttemptPorts } from "./job.ts";
import { optional } from "../core/optional.ts";

/** `gone`: aborted when the agent's program no longer waits for the call. */
export type AskLive = (question: string, gone?: AbortSignal) => Promise<LiveAnswer>;

/** Below the shortest time that an agent's program gives a tool call (one minute). */
export const QUESTION_WAIT_MS = 45_000;

const NONE: LiveAnswer = { type: "none" };

export function openLiveQuestions(
  ports: AttemptPorts,
  people: AskPeople,
  waitMs: number,
  onEvent: (event: AgentEvent) => void,
): AskLive {
  const answers: { readonly question: string; readonly answer: string }[] = [];
  const notice = (text: string): void => onEvent({ type: "notice", kind: "question", text });

  async function ask(question: string, until: string, gone: AbortSignal | undefined): Promise<LiveAnswer> {
    const isLate = Date.parse(until) <= Date.parse(ports.now());
    const number = isLate || people.gone.aborted ? undefined : people.nextNumber();
    if (number === undefined) return NONE;
    const name = createHash("sha256").update(question).digest("hex").slice(0, 16);
    const request = `q${number}-${name}`;
    notice(`asks a person and waits for the answer: ${question}`);
    const answer = await people.answerTo<LiveAnswer>({
      until,
      ...optional({ gone }),
      ask: () => ports.askQuestion({ request, question, until }),
      expire: () => ports.expireQuestion(request),
      without: NONE,
    });
    if (answer.type === "none") return NONE;
    notice("a person answered while it waited");
    answers.push({ question, answer: answer.text });
    // For later attempts, which may begin a new session. The answer itself is stored already.
    await ports.note({ answers: [...answers] }).catch(() => {});
    return answer;
  }

  return (question, gone) => {
    // From now on, not from its turn: the program counts the time of the call.
    const until = new Date(Date.parse(ports.now()) + waitMs).toISOString();
    return people.inTurn(() => ask(question, until, gone));
  };
}
