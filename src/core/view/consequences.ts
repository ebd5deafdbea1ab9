// Where each answer to an open item would lead, so that a person sees it before deciding. It applies the real transition and discards the
// result: a second interpretation of the routes could differ.

import type { Flow } from "../flow/flow.ts";
import { answersOf, type InboxItem, type Run } from "../run/run.ts";
import { findStage, isWork } from "../run/sequence.ts";
import { transition } from "../run/transition.ts";

export type Lead = {
  /** Empty if the item takes a text. */
  readonly answer: string;
  /** The stage that works or waits then, or `end`, `cancel`, `stop`. */
  readonly to: string;
  /** The agent or the person of that stage; empty where there is none. */
  readonly who: string;
  /** A person decides there; no agent works. */
  readonly isGate: boolean;
  /** The run's status word afterwards. */
  readonly word: string;
};

export function leadsOf(flow: Flow, run: Run, item: InboxItem): readonly Lead[] {
  // A question takes any text; an empty one leads where all of them lead.
  const answers = item.kind === "question" ? [""] : answersOf(item);
  return answers.flatMap((answer) => {
    const { run: after, ignored } = transition(flow, run, {
      type: "item.answered",
      number: item.number,
      kind: item.kind,
      answer,
      text: item.kind === "question" ? "?" : "",
      id: `lead:${item.number}`,
      at: item.openedAt,
      actor: "human:",
    });
    return ignored === undefined ? [{ answer, ...placeOf(flow, run, after, item.number), word: after.word }] : [];
  });
}

function placeOf(flow: Flow, before: Run, after: Run, number: number): Pick<Lead, "to" | "who" | "isGate"> {
  if (after.status === "completed") return { to: "end", who: "", isGate: false };
  if (after.status === "canceled") return { to: "cancel", who: "", isGate: false };
  const [name = ""] =
    Object.entries(before.tracks).find(([, track]) => track.at === "waiting" && track.item.number === number) ?? [];
  // A track that is done or gone has handed the run back to the main one.
  const own = after.tracks[name];
  const [track, at] = own === undefined || own.at === "done" ? ["main", after.tracks["main"]] : [name, own];
  if (at === undefined || at.at === "done" || at.at === "stopped") return { to: "stop", who: "", isGate: false };
  if (at.at === "forked") return { to: at.stage, who: "", isGate: false };
  const stage = findStage(flow, after, track, at.stage);
  if (stage === undefined) return { to: at.stage, who: "", isGate: false };
  const isGate = stage.kind === "gate";
  return { to: stage.id, who: isWork(stage) ? stage.shownAgent : isGate ? stage.who : "", isGate };
}
