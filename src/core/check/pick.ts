// Checks the keys of `pick`: their words must be ticket statuses, and two needs are mandatory.

import type { FlowFile } from "../flow/flow-file.ts";
import { TICKET_STATUSES, isTicketStatus } from "../ticket/status.ts";
import { type FlowProblem, problem } from "./problem.ts";
import { didYouMean } from "./suggest.ts";

/** Keys of `pick` that earlier versions accepted but never read, and the setting that decides instead. */
export const MOVED_PICK_KEYS: Readonly<Record<string, string>> = {
  from: "settings say where tickets are: tickets.folder, tickets.request_prefix and tickets.ticket_prefix in passrail.yaml",
  workers: "settings say how many stages run at once: slots in passrail.yaml, --slots, PASSRAIL_SLOTS or MAX_WORKERS",
  idle_sleep: "settings say how long the dispatcher waits: tickets.idle_sleep in passrail.yaml",
  unknown_status: "settings say what an unknown status means: tickets.unknown_status in passrail.yaml",
};

/** Without them a finished ticket would start again, and two runs would write to one branch. */
const ALWAYS_NEEDED = ["actionable-status", "branch-free"] as const;

export function pickProblems({ pick }: Pick<FlowFile, "pick">): readonly FlowProblem[] {
  if (pick === undefined) return [];
  const needs = pick.needs;
  return [
    ...(["satisfied", "skip"] as const).flatMap((key) => statusProblems(key, pick[key] ?? [])),
    ...ALWAYS_NEEDED.filter((need) => needs !== undefined && !needs.includes(need)).map((need) =>
      problem(
        "pick_need_missing",
        ["pick", "needs"],
        `pick.needs leaves out "${need}", which every ticket needs`,
        `add ${need}; only depends-on-satisfied can be left out`,
      ),
    ),
  ];
}

function statusProblems(key: "satisfied" | "skip", words: readonly string[]): readonly FlowProblem[] {
  return words.flatMap((word, index) =>
    isTicketStatus(word)
      ? []
      : [
          problem(
            "unknown_status",
            ["pick", key, index],
            `"${word}" is not a ticket status`,
            didYouMean(word, TICKET_STATUSES, "statuses"),
          ),
        ],
  );
}
