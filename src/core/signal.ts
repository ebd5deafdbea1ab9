// What is reported to the engine: a program ended, a person answered, a crash was noticed. A signal is a claim about the world;
// the transition decides whether it fits the run. It carries its own time, so that deciding needs no clock.

import type { Actor } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { Report } from "./outcome.ts";
import type { InboxItem, Subject } from "./run.ts";

export type SignalBody =
  | {
      readonly type: "run.requested";
      readonly runId: string;
      readonly flowHash: string;
      readonly subject: Subject;
      readonly facts: JsonObject;
    }
  | { readonly type: "attempt.started"; readonly stage: string; readonly attempt: number }
  | { readonly type: "attempt.finished"; readonly stage: string; readonly attempt: number; readonly report: Report }
  | { readonly type: "attempt.interrupted"; readonly stage: string; readonly attempt: number; readonly cause: string }
  | {
      readonly type: "item.answered";
      readonly number: number;
      readonly kind: InboxItem["kind"];
      /** The gate's answer, the choice, or "" for a free answer. */
      readonly answer: string;
      /** Comment, answer or note. */
      readonly text: string;
    }
  | { readonly type: "pause.requested"; readonly reason: string }
  | { readonly type: "resume.requested" }
  | { readonly type: "cancel.requested"; readonly reason: string }
  | { readonly type: "retry.requested"; readonly stage?: string; readonly note: string }
  | { readonly type: "skip.requested"; readonly stage?: string; readonly reason: string }
  | { readonly type: "stall.noticed"; readonly since: string };

export type Signal = SignalBody & {
  /** Unique within the run: the same id is applied once. */
  readonly id: string;
  readonly at: string;
  readonly actor: Actor;
};
