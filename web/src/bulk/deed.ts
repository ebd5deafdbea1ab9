// One act on one thing, as the daemon takes it. Runs and tickets have their own acts; nothing here decides whether an act is allowed.

import type { CallOptions } from "../../../src/http/client/call.ts";
import type { TicketStatus } from "../../../src/core/ticket/status.ts";
import { call } from "../base/api.ts";
import { type Act, actName, NO_EXTRAS } from "../run/acts.ts";
import { performAct } from "../run/perform-act.ts";
import { type OnRun, settle } from "../settle/settle.ts";
import { clock } from "../ui/time.tsx";

type RunRef = { readonly id: string; readonly number: number };

export type BulkDeed =
  | { readonly do: "act"; readonly run: RunRef; readonly act: Pick<Act, "act" | "stage"> }
  /** Of finished work. */
  | { readonly do: "settle"; readonly run: RunRef; readonly act: OnRun }
  | { readonly do: "start"; readonly ticket: string }
  /** `version`: of the file that the person saw. */
  | { readonly do: "status"; readonly ticket: string; readonly to: TicketStatus; readonly version: string }
  | { readonly do: "snooze"; readonly entry: string; readonly until: string };

/** Carries it out and says what happened; throws the daemon's refusal. `text`: the reason or the note that goes with it. */
export async function perform(deed: BulkDeed, text: string, options: CallOptions): Promise<string> {
  switch (deed.do) {
    case "act": {
      const { run } = await performAct(deed.run.id, deed.act, text, NO_EXTRAS, options);
      return `${actName(deed.act)}: done. #${deed.run.number} is ${run.word}.`;
    }
    case "settle":
      return settle(deed.act, deed.run, { text, runner: "" }, options);
    case "start": {
      const { run, started } = await call("startTicket", { params: { ticket: deed.ticket }, body: {} }, options);
      return started ? `Run #${run.number} started.` : `Run #${run.number} already works on it.`;
    }
    case "status": {
      const params = { ticket: deed.ticket };
      await call("editTicket", { params, body: { status: deed.to } }, { ...options, ifMatch: deed.version });
      return `${deed.ticket} is ${deed.to}.`;
    }
    case "snooze":
      await call("snoozeEntry", { body: { id: deed.entry, until: deed.until } }, options);
      return `Hidden from you until ${clock(deed.until)}.`;
  }
}
