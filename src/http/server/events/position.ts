// A client's position in the stream. `42` means that the client has seen everything up to event 42. `42h` means that it has seen only the
// `handoff` message of event 42: an event about a handoff is sent as two messages, and a connection may break between them.

import { err, ok, type Result } from "../../../core/result.ts";

export type StreamPosition = { readonly seq: number; readonly half: boolean };

/** A refusal for the caller; no stream was opened. */
export type StreamProblem = {
  readonly code: "invalid_last_event_id" | "too_many_streams";
  readonly message: string;
  readonly hint: string;
};

const FORM = /^(0|[1-9][0-9]{0,14})(h?)$/;

export function parsePosition(text: string): Result<StreamPosition, StreamProblem> {
  const [, digits, half] = FORM.exec(text) ?? [];
  const seq = Number(digits);
  if (digits === undefined || (half === "h" && seq === 0)) {
    return err({
      code: "invalid_last_event_id",
      message: "Last-Event-ID or after is no id that this stream has given.",
      hint: "Send the id of the last event that you saw, such as 42, or none to begin with what happens next.",
    });
  }
  return ok({ seq, half: half === "h" });
}

export function formatPosition({ seq, half }: StreamPosition): string {
  return half ? `${seq}h` : String(seq);
}

/** Whether `a` comes after `b`. */
export function isAfter(a: StreamPosition, b: StreamPosition): boolean {
  return a.seq > b.seq || (a.seq === b.seq && b.half && !a.half);
}

export function later(a: StreamPosition, b: StreamPosition): StreamPosition {
  return isAfter(a, b) ? a : b;
}

/** The event after which to read the store so that nothing behind this position is missed. */
export function readAfter({ seq, half }: StreamPosition): number {
  return half ? seq - 1 : seq;
}
