// The stage that writes the tickets of a request: all of them in one folder or none, once per run however often the stage is repeated.

import type { Report } from "../../core/flow/outcome.ts";
import { readTicketList } from "../../core/ticket/new-ticket.ts";
import { FIRST_STATUS } from "../../core/ticket/status.ts";
import type { Builtin } from "../../attempt/builtins.ts";
import type { TicketFolder } from "../file/folder.ts";

/** `folderOf` returns the folder of a project's tickets, by that project's settings. */
export function createWriteTickets(folderOf: (project: string) => Promise<TicketFolder>): Builtin {
  return async ({ run, stage, project, attempts, readYaml }): Promise<Report> => {
    const text = attempts
      .filter(({ status }) => status === "done")
      .map(({ outcome }) => outcome?.["payload"])
      .flatMap((payload) =>
        payload !== null && typeof payload === "object" && "text" in payload ? [payload["text"]] : [],
      )
      .at(-1);
    if (typeof text !== "string")
      return { cause: "tickets_missing", reason: "no earlier stage gave a list of tickets" };
    const folder = await folderOf(project);
    const yaml = readYaml(text);
    const tickets = yaml.ok ? readTicketList(yaml.value, folder.repo) : yaml;
    if (!tickets.ok) return { cause: tickets.error.code, reason: tickets.error.message };
    // "." is how the prompt lets an agent name this repository; people read its name.
    const named = tickets.value.map((each) => (each.repo === "." ? { ...each, repo: folder.ownRepo } : each));
    const created = await folder.create(named, {
      key: run.id,
      status: stage.settings.first_status ?? FIRST_STATUS,
    });
    if (!created.ok) return { cause: created.error.code, reason: created.error.message };
    const paths = [...created.value];
    return { structured: true, summary: `Created ${paths.length} ticket(s):\n${paths.join("\n")}`, payload: { paths } };
  };
}
