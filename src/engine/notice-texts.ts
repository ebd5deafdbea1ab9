// What a notice says beside its own words: about an item, or about the end of a run.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Store } from "../store/store.ts";
import { endOfRun } from "./end-of-run.ts";
import { noticeOfItem } from "./item-notice.ts";
import type { CommandPorts } from "./perform-command.ts";

export function noticeTexts(
  store: Pick<Store, "attempts" | "findRuns" | "inbox">,
  flowOf: (hash: string) => Promise<ResolvedFlow>,
): Pick<CommandPorts, "endOf" | "noticeOf"> {
  return {
    endOf: (run) => endOfRun(store, flowOf, run),
    noticeOf: (run, item, text) => noticeOfItem(store, flowOf, { run, item, text }),
  };
}
