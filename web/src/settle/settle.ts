// Carries out the acts that settle a loose end, and says in a sentence what happened.

import { call } from "../base/api.ts";
import type { About, Doing } from "./acts.ts";

export type SettleInput = { readonly text: string; readonly runner: string };

/** Carries it out and says what happened. */
export async function settle(act: Doing, { run, ticket }: About, said: SettleInput): Promise<string> {
  if (act.do === "move") return move(ticket ?? "", act.to);
  const params = { run: run?.id ?? "" };
  const number = `#${run?.number ?? "?"}`;
  switch (act.do) {
    case "retry":
      await call("retryStage", { params, body: { stage: act.stage, note: said.text } });
      return `${number}: ${act.stage} is ready to run again.`;
    case "retry-with":
      await call("retryStage", {
        params,
        body: { stage: act.stage, note: said.text, agents: { [act.stage]: said.runner } },
      });
      return `${number}: ${act.stage} is ready to run again, with ${said.runner}.`;
    case "skip":
      await call("skipStage", { params, body: { stage: act.stage, reason: said.text } });
      return `${number} goes on without ${act.stage}.`;
    case "cancel":
      await call("cancelRun", { params, body: { reason: said.text } });
      return `${number} is canceled. Its branch stays.`;
    case "merge":
    case "propose": {
      const { run: landing, started } = await call("mergeRun", { params, body: { pullRequest: act.do === "propose" } });
      const what = act.do === "propose" ? "opens a pull request for" : "lands";
      return `Run #${landing.number} ${started ? what : "already takes care of"} the work of ${number}.`;
    }
    case "discard": {
      const { branch, keptAs, restore } = await call("discardRun", { params, body: {} });
      return `${branch} is removed. ${keptAs} keeps its commits; ${restore} brings it back.`;
    }
    case "confirm-merge": {
      const { summary } = await call("confirmMerge", { params, body: {} });
      return `${number}: ${summary}`;
    }
  }
}

/** Bound to the version of the file that is there when the person confirms: a status that a run writes meanwhile is not overwritten. */
async function move(id: string, to: (Doing & { do: "move" })["to"]): Promise<string> {
  const { file } = await call("showTicket", { params: { ticket: id } });
  await call("editTicket", { params: { ticket: id }, body: { status: to } }, { ifMatch: file?.version ?? "" });
  return `${id} is ${to}.`;
}
