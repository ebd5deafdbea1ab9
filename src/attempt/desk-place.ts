// The attempt's place at the desk: its agent submits one verdict or asks a question there. A question waits for an answer for a while;
// the first verdict that is accepted, or question that nobody answered in time, is final.

import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import { err, type Result } from "../core/result.ts";
import { optional } from "../core/optional.ts";
import { liveAnswerText } from "../core/prompt/messages.ts";
import type { DeskAnswer, DeskPlace, DeskQuestion, OpenPlace } from "../runner/desk/desk.ts";
import { writeRecord } from "./attempt-files.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import type { AskLive } from "./live-questions.ts";

/** A verdict that can be submitted: its schema, and the check whose errors the agent gets at once. */
export type OfferedVerdict = {
  readonly schema: JsonObject;
  readonly accept: (text: string) => Promise<Result<Report, string>>;
};

export type AttemptDesk = {
  /** Undefined where the agent can neither submit nor ask. */
  readonly place: OpenPlace | undefined;
  /** The accepted verdict, or the question to a person. */
  submitted(): Report | undefined;
  /** A person has said something since: whatever was recorded does not count, and the agent can hand in again. */
  reopen(): void;
};

export type DeskOffer = {
  readonly offered: OfferedVerdict | null;
  readonly mayAsk: boolean;
  /**
   * Called when a verdict or a question is recorded: nothing that the program does from then on counts, unless a person speaks. It is told
   * when this resolves.
   */
  readonly onAccepted: (what: "verdict" | "question") => Promise<void>;
  /** For programs that ask for permission at the desk. */
  readonly permit?: DeskPlace["permit"];
  /** Asks a person while the agent waits. */
  readonly askLive: AskLive;
  /** Called with the words in which the agent gets an answer. */
  readonly onSaid: (text: string) => void;
};

export async function openAttemptDesk(
  job: AttemptJob,
  { runners }: AttemptPorts,
  { offered, mayAsk, onAccepted, permit, askLive, onSaid }: DeskOffer,
): Promise<AttemptDesk> {
  let submitted: Report | undefined;

  async function submit(text: string): Promise<DeskAnswer> {
    if (submitted !== undefined) return refused(submitted);
    const accepted = offered === null ? err("This stage takes no verdict here.") : await offered.accept(text);
    if (!accepted.ok) return { accepted: false, text: accepted.error };
    if (submitted !== undefined) return refused(submitted);
    submitted = accepted.value;
    await writeRecord(job.files, job.files.submission, runners.redact(text.replaceAll(job.nonce, "[nonce]")));
    await onAccepted("verdict");
    return { accepted: true, text: "Accepted. Your work is done: end your turn now, without another word." };
  }

  async function ask({ question, options }: DeskQuestion, gone?: AbortSignal): Promise<DeskAnswer> {
    if (submitted !== undefined) return refused(submitted);
    const asked = runners.redact(options.length === 0 ? question : `${question}\nOptions: ${options.join(" | ")}`);
    const live = await askLive(asked, gone);
    if (live.type === "answer") {
      const text = liveAnswerText(live.text);
      onSaid(text);
      return { accepted: true, goesOn: true, text };
    }
    // A verdict, or another question, may have been accepted meanwhile.
    if (submitted !== undefined) return refused(submitted);
    submitted = {
      health: "blocked",
      structured: true,
      asked: true,
      questions: [asked],
      reason: "the agent asks a person",
    };
    await writeRecord(job.files, job.files.submission, JSON.stringify({ asked }));
    await onAccepted("question");
    return {
      accepted: true,
      text: "The question was passed on to a person, and nobody has answered yet. End your turn now; the answer comes with your next prompt.",
    };
  }

  const isOffered = offered !== null || mayAsk || permit !== undefined;
  const place = isOffered
    ? await runners.desk.open({ verdictSchema: offered?.schema ?? null, mayAsk, submit, ask, ...optional({ permit }) })
    : undefined;
  return { place, submitted: () => submitted, reopen: () => void (submitted = undefined) };
}

function refused(submitted: Report): DeskAnswer {
  const what = submitted.asked === true ? "a question was passed on to a person" : "a verdict was accepted";
  return { accepted: false, text: `Not taken: ${what} before in this attempt, and that counts. End your turn now.` };
}
