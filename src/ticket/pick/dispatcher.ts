// Picks tickets and starts their runs, so that the engine always has as much ready work as it has slots, and a little more. It looks after
// every change, and after a pause. Only the process that performs has one. core/ticket/dispatch-round.ts decides which ticket comes next.

import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Actor } from "../../core/run/event.ts";
import { messageOf, type Problem, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import {
  afterRefusal,
  afterStart,
  beginRound,
  type DispatchLimits,
  type DispatchRound,
  endRound,
  NEW_MEMORY,
  takeNext,
} from "../../core/ticket/dispatch-round.ts";
import type { PickRulesOf } from "../../core/ticket/pick-rules.ts";
import { cannotStart, type CannotStart, ticketWarnings } from "../../core/ticket/cannot-start.ts";
import { type PlannedTicket, planTickets, type TicketPlan } from "../../core/ticket/plan.ts";
import type { Ticket, TicketScan } from "../../core/ticket/ticket.ts";
import type { Clock } from "../../engine/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { createPoll } from "../poll.ts";
import { createFlowRules } from "./flow-rules.ts";
import { countInLine } from "./in-line.ts";
import type { LandingAccess } from "./landing-access.ts";
import type { RefusedBoard } from "./refused-board.ts";
import { recoverTickets } from "./recover-tickets.ts";
import type { StartedRun } from "../../app/start-run/start-run.ts";
import type { UseCases } from "../../app/use-cases.ts";
import { startTicket } from "./start-ticket.ts";

export type DispatcherOptions = {
  readonly app: Pick<UseCases, "startRun">;
  readonly store: Store;
  readonly engine: Pick<Engine, "calm">;
  readonly mirror: Mirror;
  readonly config: Settings;
  /** Settings as they are now: a person may have chosen other runners since the start. */
  readonly loadConfig: () => Promise<Result<Settings>>;
  /** The state folder. */
  readonly home: string;
  /** The project whose folder has the tickets. */
  readonly project: string;
  readonly actor: Actor;
  readonly resolve: (flow: string) => Result<ResolvedFlow>;
  readonly access: LandingAccess;
  /** Where the API finds the starts that were refused. */
  readonly refused: RefusedBoard;
  readonly clock: Clock;
  /** One line for people. */
  readonly log: (line: string) => void;
  readonly environment: Environment;
  /** Runners that override those of the settings. */
  readonly runners?: readonly string[];
  readonly onStart?: (run: Run) => void;
  /** True while no ticket may start, such as after the end of a shift. */
  readonly isHeld?: () => Promise<boolean>;
};

export type DispatcherState = {
  readonly isOn: boolean;
  readonly slots: number;
  /** Runs of tickets that work or are next in line. */
  readonly inLine: number;
  /** Tickets that could start and have not yet. */
  readonly eligible: number;
  /** Why tickets that could start do not, such as an agent without a program. */
  readonly refused: readonly Problem[];
  /** Every ticket that no waiting will start, those of `refused` among them. */
  readonly cannotStart: readonly CannotStart[];
  readonly lookedAt: string | null;
};

export type Dispatcher = {
  /** Resets tickets that a dead process left In Progress, then picks. Resolves after the first look. */
  start(): Promise<void>;
  /** Picks no further ticket. Runs that have started continue. */
  stop(): void;
  /** Looks now; resolves when that look has ended. */
  look(): Promise<void>;
  state(): DispatcherState;
  /** No ticket can start, and no run is in line. */
  readonly isIdle: boolean;
};

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { clock, config, home, log, mirror, project, store } = options;
  const limits: DispatchLimits = { slots: config.slots.value, retryMs: config.tickets.idleSleepMs };
  const rules = createFlowRules({ home, project, flow: config.tickets.flow });
  let memory = NEW_MEMORY;
  let stuck: readonly CannotStart[] = [];
  let lookedAt: string | null = null;
  const told = new Set<string>();
  let unlisten = (): void => undefined;
  const poll = createPoll({
    task: pick,
    pauseMs: () => config.tickets.idleSleepMs,
    onError: (error) => log(`tickets cannot be picked: ${messageOf(error)}`),
  });

  return {
    async start() {
      poll.start();
      await mirror.settled();
      const lines = await recoverTickets(await mirror.look(project), await mirror.folder(project), (id) =>
        mirror.goingOn(project).has(id),
      );
      for (const line of lines) log(line);
      unlisten = mirror.listen(project, () => void poll.now());
      await poll.now();
    },
    stop() {
      void poll.stop();
      unlisten();
    },
    look: () => poll.now(),
    state: () => ({
      isOn: poll.isOn,
      slots: limits.slots,
      inLine: memory.inLine,
      eligible: memory.eligible,
      refused: [...memory.refusals.values()].map(({ problem }) => problem),
      cannotStart: stuck,
      lookedAt,
    }),
    get isIdle() {
      return !poll.isBusy && memory.eligible === 0 && memory.inLine === 0;
    },
  };

  function onAlert(line: string): void {
    if (!told.has(line)) log(`! ${line}`);
    told.add(line);
  }

  async function pick(): Promise<void> {
    // Reading tickets, settings and flows would keep the agent waiting that is next in line.
    await options.engine.calm();
    const since = mirror.endings;
    const scan = await mirror.look(project);
    const plan = planOf(scan, options, since, rules());
    const inLine = await countInLine(store, mirror.goingOn(project).values(), clock.now());
    const isHeld = (await options.isHeld?.()) === true;
    let round = beginRound(memory, plan, inLine);
    const byId = new Map(scan.tickets.map((ticket) => [ticket.id, ticket]));
    for (;;) {
      const taken = takeNext(round, limits, clock.monotonicMs());
      ({ round } = taken);
      memory = round.memory;
      if (taken.next === undefined || !poll.isOn || isHeld) break;
      round = await tryStart(round, taken.next, byId, { ...options, onAlert });
      memory = round.memory;
    }
    const refused = new Map([...memory.refusals].map(([id, { problem }]) => [id, problem]));
    options.refused.set(refused);
    stuck = cannotStart(scan, plan, refused);
    const ended = endRound(round, { stuck, warnings: ticketWarnings(scan, plan) });
    memory = ended.memory;
    lookedAt = clock.now();
    if (ended.lines.length > 0) log(ended.lines.join("\n"));
    if (ended.again) void poll.now();
  }
}

type StartOptions = DispatcherOptions & { readonly onAlert: (line: string) => void };

async function tryStart(
  round: DispatchRound,
  planned: PlannedTicket,
  byId: ReadonlyMap<string, Ticket>,
  options: StartOptions,
): Promise<DispatchRound> {
  const { ticket } = planned;
  const started = await startOne(planned, byId, options);
  if (!started.ok) {
    const refused = afterRefusal(round, { ticket, problem: started.error, atMs: options.clock.monotonicMs() });
    if (refused.line !== undefined) options.log(refused.line);
    return refused.round;
  }
  if (!started.value.started) return round;
  options.onStart?.(started.value.run);
  return afterStart(round, ticket.id);
}

async function startOne(
  planned: PlannedTicket,
  tickets: ReadonlyMap<string, Ticket>,
  options: StartOptions,
): Promise<Result<StartedRun>> {
  const now = await options.loadConfig();
  return now.ok ? startTicket(planned, tickets, { ...options, config: now.value }) : now;
}

/** A run that ended after the scan began has written a status that the scan may not show. */
function planOf(
  scan: TicketScan,
  { mirror, project }: DispatcherOptions,
  since: number,
  rules: PickRulesOf,
): TicketPlan {
  const busy = new Set(mirror.goingOn(project).keys());
  for (const { id } of scan.tickets) if (mirror.ended(project, id) > since) busy.add(id);
  return planTickets(scan, { busy, busyBranches: new Set() }, rules);
}
