// Changes to the ticket's text during its run: a person edits title or body, or the file and the run no longer agree. The run keeps its
// position; only the next attempt's prompt changes.

import { type Draft, emit } from "./draft.ts";
import { warn } from "./routing.ts";
import type { Signal } from "./signal.ts";

const TITLE_CHARS = 200;
const BODY_CHARS = 256 * 1024;

export function edited(draft: Draft, signal: Signal & { type: "ticket.edited" }): string | undefined {
  const { title, body } = signal;
  if (title.trim() === "") return "a ticket needs a title";
  if (title.length > TITLE_CHARS || body.length > BODY_CHARS) return "the text is too long for a ticket";
  const { subject } = draft.run;
  if (title === subject.title && body === subject.body) return "the ticket says this already";
  emit(draft, { type: "ticket.edited", title, body }, signal.actor);
  return undefined;
}

/** A warning for people, without effect on the run. */
export function noticed(draft: Draft, signal: Signal & { type: "warning.noticed" }): string | undefined {
  const { code, message } = signal;
  if (!/^[a-z_]{1,60}$/u.test(code)) return `"${code}" is not the code of a warning`;
  const track = Object.values(draft.run.tracks).find((each) => "stage" in each);
  warn(draft, track !== undefined && "stage" in track ? track.stage : "", code, message.slice(0, 2000));
  return undefined;
}
