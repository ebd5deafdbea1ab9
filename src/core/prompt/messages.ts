// A person's words to an agent, as the agent gets them: named, fenced, and with what follows from them.

import { block } from "./quote.ts";
import type { PersonMessage } from "../run/message.ts";

/** In the prompt of an attempt; empty without any. */
export function messagesText(messages: readonly PersonMessage[]): string {
  if (messages.length === 0) return "";
  return ["A person said this to the agent of this stage. Act on it in this attempt.", ...messages.map(said)].join(
    "\n\n",
  );
}

/** To an agent at work, in the session that it has. */
export function liveMessage(message: PersonMessage): string {
  return `${said(message)}

The person said this while you work. Act on it and go on. A verdict or a question that you handed in before you read this does not count: hand it in again when you are done.`;
}

/** To an agent that asked and waited. */
export function liveAnswerText(answer: string): string {
  return `${block("Answer of the person", answer)}

A person answered your question while you waited. Act on the answer and go on with your work.`;
}

function said({ from, text }: PersonMessage): string {
  return block(`Message from ${from}`, text);
}
