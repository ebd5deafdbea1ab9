// Carries out the acts that settle a loose end, and reports the result in a sentence.

import type { CallOptions } from "../../../src/http/client/call.ts";
import { call } from "../base/api.ts";
import type { About, Doing } from "./acts.ts";

export type OnRun = Exclude<Doing, { do: "move" }>;

export type SettleInput = { readonly text: string; readonly runner: string };

/** Carries the act out and says what happened. `isLeaving`: the request must outlive the page. */
export type SendSettled = (isLeaving: boolean) => Promise<string>;

/** Reads what the act depends on, as it is when the person confirms: a status that a run writes meanwhile is not overwritten. */
export async function prepareSettling(act: Doing, { run, ticket }: About, said: SettleInput): Promise<SendSettled> {
  if (act.do === "move") return prepareMove(ticket ?? "", act.to);
  const about = run ?? { id: "", number: 0 };
  return (keepalive) => settle(act, about, said, { keepalive });
}

/** Acts on the run itself; a move of its ticket is bound to a version of the file. */
export async function settle(
  act: OnRun,
  { id, number: count }: NonNullable<About["run"]>,
  said: SettleInput,
  options: CallOptions,
): Promise<string> {
  const params = { run: id };
  const number = `#${count}`;
  switch (act.do) {
    case "retry":
      await call("retryStage", { params, body: { stage: act.stage, note: said.text } }, options);
      return `${number}: ${act.stage} is ready to run again.`;
    case "retry-with": {
      const body = { stage: act.stage, note: said.text, agents: { [act.stage]: said.runner } };
      await call("retryStage", { params, body }, options);
      return `${number}: ${act.stage} is ready to run again, with ${said.runner}.`;
    }
    case "skip":
      await call("skipStage", { params, body: { stage: act.stage, reason: said.text } }, options);
      return `${number} continues without ${act.stage}.`;
    case "cancel":
      await call("cancelRun", { params, body: { reason: said.text } }, options);
      return `${number} is canceled. Its branch stays.`;
    case "merge":
    case "propose": {
      const body = { pullRequest: act.do === "propose" };
      const { run: landing, started } = await call("mergeRun", { params, body }, options);
      const what = act.do === "propose" ? "opens a pull request for" : "lands";
      return `Run #${landing.number} ${started ? what : "already takes care of"} the work of ${number}.`;
    }
    case "discard": {
      const { branch, keptAs, restore } = await call("discardRun", { params, body: {} }, options);
      return `${branch} is removed. ${keptAs} keeps its commits; ${restore} brings it back.`;
    }
    case "confirm-merge": {
      const { summary } = await call("confirmMerge", { params, body: {} }, options);
      return `${number}: ${summary}`;
    }
  }
}

async function prepareMove(id: string, to: (Doing & { do: "move" })["to"]): Promise<SendSettled> {
  const { file } = await call("showTicket", { params: { ticket: id } });
  return async (keepalive) => {
    const options = { ifMatch: file?.version ?? "", keepalive };
    await call("editTicket", { params: { ticket: id }, body: { status: to } }, options);
    return `${id} is ${to}.`;
  };
}
