// Carries out an action on a run.

import type { CallOptions } from "../../../src/http/client/call.ts";
import { call } from "../base/api.ts";
import { type Act, type Extras, NO_EXTRAS } from "./acts.ts";

/** `text`: the reason or the note that goes with it. */
export function performAct(
  run: string,
  { act, stage }: Pick<Act, "act" | "stage">,
  text: string,
  { agent, model, discard }: Extras = NO_EXTRAS,
  options: CallOptions = {},
) {
  const params = { run };
  const of = stage === null ? {} : { stage };
  switch (act) {
    case "pause":
      return call("pauseRun", { params, body: { reason: text } }, options);
    case "stop":
      return call("stopRun", { params, body: { ...of, reason: text } }, options);
    case "resume":
      return call("resumeRun", { params, body: {} }, options);
    case "retry":
      return call(
        "retryStage",
        {
          params,
          body: {
            ...of,
            note: text,
            ...(stage === null || agent === "" ? {} : { agents: { [stage]: agent } }),
            ...(stage === null || model.trim() === "" ? {} : { models: { [stage]: model.trim() } }),
          },
        },
        options,
      );
    case "rerun":
      return call("rerunFrom", { params, body: { stage: stage ?? "", note: text } }, options);
    case "skip":
      return call("skipStage", { params, body: { ...of, reason: text } }, options);
    case "takeover":
      return call("takeoverRun", { params, body: of }, options);
    case "handback":
      return call("handbackRun", { params, body: { note: text, discard } }, options);
    case "undo":
      return call("undoLanding", { params, body: {} }, options);
    case "cancel":
      return call("cancelRun", { params, body: { reason: text } }, options);
  }
}
