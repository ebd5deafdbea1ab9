import type { BulkSubject } from "../bulk/plan.ts";
import type { WorkItem } from "./item.ts";

/** A piece of work as an act on many takes it. */
export function subjectOf({ id, ticket, end }: WorkItem): BulkSubject {
  const { file, newest, status, title, waits } = ticket;
  return {
    key: id,
    title,
    run: newest,
    runStatus: status,
    file:
      file === null
        ? null
        : {
            ticket: id,
            status: file.status,
            version: file.version,
            canStart: file.state === "eligible",
            why: ticket.why ?? file.why,
          },
    end,
    items: waits.map((item) => item.id),
  };
}
