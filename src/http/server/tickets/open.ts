// Opens the ticket files of the daemon's project for the API: reads them in the background at the start and reports changes live. The
// mirror reads the same files to keep them equal with their runs, so each file is read once for both.

import { messageOf, type Result } from "../../../core/result.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { UseCases } from "../../../app/use-cases.ts";
import type { Settings } from "../../../settings/settings.ts";
import type { Store } from "../../../store/store.ts";
import { ownRepoNames } from "../../../ticket/file/repos.ts";
import type { Mirror } from "../../../ticket/mirror/mirror.ts";
import type { LandingAccess } from "../../../ticket/pick/landing-access.ts";
import type { RefusedBoard } from "../../../ticket/pick/refused-board.ts";
import { createFlowRules } from "../../../ticket/pick/flow-rules.ts";
import { startTicket } from "../../../ticket/pick/start-ticket.ts";
import { createKnownTickets, type TicketFiles } from "./known-tickets.ts";
import type { ProjectTickets } from "../project-tickets.ts";

type Options = {
  readonly mirror: Mirror;
  readonly access: LandingAccess;
  readonly refused?: RefusedBoard | undefined;
  readonly app: UseCases;
  readonly store: Store;
  readonly config: Settings;
  readonly home: string;
  readonly project: string;
  readonly resolve: (flow: string) => Result<ResolvedFlow>;
  /** The current settings: people edit them while the daemon runs. */
  readonly readSettings: () => Promise<Result<Settings>>;
  readonly onChange: (ids: readonly string[]) => void;
  readonly onProblem: (text: string) => void;
};

export function openProjectTickets(options: Options): ProjectTickets {
  const { access, app, config, mirror, project, resolve, store } = options;
  const onProblem = (error: unknown): void => options.onProblem(messageOf(error));
  const source: TicketFiles = {
    folder: () => mirror.folder(project),
    look: () => mirror.look(project),
    listen: (onChange) => mirror.listen(project, onChange),
    busy: () => new Set(mirror.goingOn(project).keys()),
    rules: createFlowRules({ home: options.home, project, flow: config.tickets.flow }),
  };
  const known = createKnownTickets({ source, onChange: options.onChange, onProblem });
  // Read ahead, so that the first caller does not wait for thousands of files.
  known.now().catch(onProblem);
  return {
    known,
    project,
    path: config.tickets.folder,
    flow: config.tickets.flow,
    repo: ownRepoNames(project)[0] ?? ".",
    cannotLeave: () => access.problems(),
    refused: () => options.refused?.now() ?? new Map(),
    async start(planned, actor) {
      const now = await options.readSettings();
      if (!now.ok) return now;
      const { scan } = await known.now();
      const byId = new Map(scan.tickets.map((ticket) => [ticket.id, ticket]));
      return startTicket(planned, byId, { access, app, store, config: now.value, project, actor, resolve });
    },
  };
}
