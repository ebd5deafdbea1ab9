// The tickets' files of the daemon's project, for the API: read in the background at the start, told live when they change. They are the same
// files that the mirror keeps equal with their runs, read once for both.

import type { Acting } from "../compose.ts";
import type { Settings } from "../settings/settings.ts";
import { messageOf, type Result } from "../core/result.ts";
import { createFlowRules } from "../ticket/pick/flow-rules.ts";
import { startTicket } from "../ticket/pick/start-ticket.ts";
import type { EventHub } from "../http/server/events/hub.ts";
import type { ServerParts, TicketDesk } from "../http/server/parts.ts";
import { createKnownTickets, type TicketFiles } from "../http/server/known-tickets.ts";
import { ownRepoNames } from "../ticket/file/repos.ts";
import type { Log } from "./log.ts";

type Parts = {
  readonly acting: Pick<Acting, "config" | "engine" | "mirror" | "store">;
  readonly project: string;
  readonly hub: EventHub;
  readonly log: Log;
  readonly resolve: ServerParts["flows"]["resolve"];
  /** Settings as they are now: who plays an agent may have been said since the start. */
  readonly loadConfig: () => Promise<Result<Settings>>;
};

/** Undefined where another process performs: then the files are its own. */
export function openTicketDesk({ acting, project, hub, log, resolve, loadConfig }: Parts): TicketDesk | undefined {
  const { config, engine, mirror, store } = acting;
  if (mirror === null) return undefined;
  const onProblem = (error: unknown): void => log.write(`tickets: ${messageOf(error)}`);
  const source: TicketFiles = {
    folder: () => mirror.folder(project),
    look: () => mirror.look(project),
    listen: (onChange) => mirror.listen(project, onChange),
    busy: () => new Set(mirror.goingOn(project).keys()),
    rules: createFlowRules({ project, flow: config.tickets.flow }),
  };
  const known = createKnownTickets({ source, onChange: (ids) => hub.hint(ids), onProblem });
  // Who comes first shall not wait for thousands of files.
  known.now().catch(onProblem);
  return {
    known,
    project,
    path: config.tickets.folder,
    flow: config.tickets.flow,
    repo: ownRepoNames(project)[0] ?? ".",
    async start(planned, actor) {
      const now = await loadConfig();
      if (!now.ok) return now;
      const { scan } = await known.now();
      const byId = new Map(scan.tickets.map((ticket) => [ticket.id, ticket]));
      return startTicket(planned, byId, { engine, store, config: now.value, project, actor, resolve });
    },
  };
}
