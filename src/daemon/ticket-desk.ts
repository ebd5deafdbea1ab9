// The tickets' files of the daemon's project, for the API: read in the background at the start, told live when they change.

import type { Acting } from "../compose.ts";
import { systemClock } from "../engine/clock.ts";
import type { EventHub } from "../server/events/hub.ts";
import type { TicketDesk } from "../server/parts.ts";
import { createKnownTickets } from "../server/tickets/known-tickets.ts";
import { openTicketFolder } from "../tickets/open-folder.ts";
import { ownRepoNames } from "../tickets/repos.ts";
import type { Log } from "./log.ts";

type Parts = {
  readonly acting: Pick<Acting, "config" | "store">;
  readonly project: string;
  readonly hub: EventHub;
  readonly log: Log;
};

export function openTicketDesk({ acting, project, hub, log }: Parts): TicketDesk {
  const settings = acting.config.tickets;
  const onProblem = (error: unknown): void =>
    log.write(`tickets: ${error instanceof Error ? error.message : String(error)}`);
  const known = createKnownTickets({
    folder: openTicketFolder({ project, settings }),
    store: acting.store,
    clock: () => systemClock.monotonicMs(),
    onChange: (ids) => hub.hint(ids),
    onProblem,
  });
  // Who comes first shall not wait for thousands of files.
  known.now().catch(onProblem);
  return { known, path: settings.folder, flow: settings.flow, repo: ownRepoNames(project)[0] ?? "." };
}
