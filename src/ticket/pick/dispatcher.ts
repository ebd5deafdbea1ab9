// Picks tickets and starts their runs, so that the engine always has as much ready work as it has slots, and a little more: whoever is
// free begins the next at once. It looks again after every change, and now and then anyway. Only the process that performs has one.

import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Actor } from "../../core/run/event.ts";
import { messageOf, type Problem, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import { type PlannedTicket, planTickets, type TicketPlan } from "../../core/ticket/plan.ts";
import type { Ticket, TicketScan } from "../../core/ticket/ticket.ts";
import type { Clock } from "../../engine/clock.ts";
import { isOutside } from "../../core/run/outside.ts";
import type { Store } from "../../store/store.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { recoverTickets } from "./recover-tickets.ts";
import type { StartedRun } from "../../app/start-run/start-run.ts";
import type { UseCases } from "../../app/use-cases.ts";
import { startTicket } from "./start-ticket.ts";

export type DispatcherOptions = {
  readonly app: Pick<UseCases, "startRun">;
  readonly store: Store;
  readonly mirror: Mirror;
  readonly config: Settings;
  /** Settings as they are now: who plays an agent may have been said since the start. */
  readonly loadConfig: () => Promise<Result<Settings>>;
  /** The project whose folder has the tickets. */
  readonly project: string;
  readonly actor: Actor;
  readonly resolve: (flow: string) => Result<ResolvedFlow>;
  readonly clock: Clock;
  /** One line for people. */
  readonly log: (line: string) => void;
  /** Who plays, over what the settings say. */
  readonly runners?: readonly string[];
  readonly onStart?: (run: Run) => void;
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
  readonly lookedAt: string | null;
};

export type Dispatcher = {
  /** Puts right what a dead process left behind, then picks. Resolves after the first look. */
  start(): Promise<void>;
  /** Picks nothing more. What has begun goes on. */
  stop(): void;
  /** Looks now; resolves when that look is over. */
  look(): Promise<void>;
  state(): DispatcherState;
  /** Nothing can start, and nothing is in line. */
  readonly isIdle: boolean;
};

/** So many tickets that cannot start are found out in one look; the next look goes on behind them. */
const REFUSALS_AT_ONCE = 20;

/** Runs beyond the slots: what is ready begins in the moment in which a slot is free. */
const LOOK_AHEAD = 2;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { config, mirror, project, store, log } = options;
  const slots = config.slots.value;
  const told = new Set<string>();
  /** Tickets that could not start, as they were then; asked again when they have changed, or after the sleep. */
  const refusals = new Map<string, { readonly ticket: Ticket; readonly problem: Problem; readonly atMs: number }>();
  let eligible = 0;
  let inLine = 0;
  let lookedAt: string | null = null;
  let isOn = false;
  let saidIdle = false;
  let current: Promise<void> | undefined;
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;
  let unlisten = (): void => undefined;

  return {
    async start() {
      isOn = true;
      await mirror.settled();
      const lines = await recoverTickets(await mirror.look(project), await mirror.folder(project), (id) =>
        mirror.goingOn(project).has(id),
      );
      for (const line of lines) log(line);
      unlisten = mirror.listen(project, () => void look());
      await look();
    },
    stop() {
      isOn = false;
      unlisten();
      clearTimeout(timer);
    },
    look,
    state: () => ({
      isOn,
      slots,
      inLine,
      eligible,
      refused: [...refusals.values()].map(({ problem }) => problem),
      lookedAt,
    }),
    get isIdle() {
      return current === undefined && !isWanted && eligible === 0 && inLine === 0;
    },
  };

  /** One look at a time; whoever asks meanwhile gets one that begins afterwards. */
  function look(): Promise<void> {
    isWanted = true;
    current ??= (async () => {
      while (isWanted && isOn) {
        isWanted = false;
        try {
          await pick();
        } catch (error) {
          log(`tickets cannot be picked: ${messageOf(error)}`);
        }
      }
      isWanted = false;
      current = undefined;
      sleep();
    })();
    return current;
  }

  /** A change wakes us earlier. */
  function sleep(): void {
    clearTimeout(timer);
    if (!isOn) return;
    timer = setTimeout(() => void look(), config.tickets.idleSleepMs);
    timer.unref();
  }

  async function pick(): Promise<void> {
    const since = mirror.endings;
    const scan = await mirror.look(project);
    const plan = planOf(scan, since);
    const going = mirror.goingOn(project);
    inLine = await count([...going.values()]);
    eligible = plan.eligible.length;
    const byId = new Map(scan.tickets.map((ticket) => [ticket.id, ticket]));
    for (const id of refusals.keys()) if (plan.tickets.get(id)?.state !== "eligible") refusals.delete(id);
    const before = refusals.size;
    let asked = 0;
    for (const ticket of plan.eligible) {
      const planned = plan.tickets.get(ticket.id);
      if (!isOn || inLine >= slots + LOOK_AHEAD || asked >= REFUSALS_AT_ONCE) break;
      if (planned === undefined) continue;
      eligible -= 1;
      if (isRefusedStill(ticket)) continue;
      const started = await startOne(planned, byId);
      if (!started.ok) {
        asked += 1;
        refusals.set(ticket.id, { ticket, problem: started.error, atMs: options.clock.monotonicMs() });
        tellOnce(started.error);
      } else if (started.value.started) {
        inLine += 1;
        told.clear();
        refusals.delete(ticket.id);
        options.onStart?.(started.value.run);
      }
    }
    if (asked >= REFUSALS_AT_ONCE && refusals.size > before) isWanted = true;
    lookedAt = options.clock.now();
    if (inLine > 0) saidIdle = false;
    else if (!saidIdle && refusals.size === 0) {
      saidIdle = true;
      log("No eligible tasks");
    }
  }

  async function startOne(planned: PlannedTicket, tickets: ReadonlyMap<string, Ticket>): Promise<Result<StartedRun>> {
    const now = await options.loadConfig();
    return now.ok ? startTicket(planned, tickets, { ...options, config: now.value }) : now;
  }

  function isRefusedStill(ticket: Ticket): boolean {
    const refusal = refusals.get(ticket.id);
    if (refusal === undefined || refusal.ticket !== ticket) return false;
    return options.clock.monotonicMs() - refusal.atMs < config.tickets.idleSleepMs;
  }

  /** A run that ended after we began to read has left a word that we may not have seen. */
  function planOf(scan: TicketScan, since: number): TicketPlan {
    const busy = new Set(mirror.goingOn(project).keys());
    for (const { id } of scan.tickets) if (mirror.ended(project, id) > since) busy.add(id);
    return planTickets(scan, { busy, busyBranches: new Set() });
  }

  async function count(runs: readonly Run[]): Promise<number> {
    let number = 0;
    for (const run of runs) if (await isInLine(run)) number += 1;
    return number;
  }

  /** It works, or would begin at once if there were a slot: not later, not by somebody outside, not after a person. */
  async function isInLine(run: Run): Promise<boolean> {
    if (run.status !== "running" || run.paused) return false;
    const flow = await store.loadFlow(run.flowHash);
    return Object.entries(run.tracks).some(([name, track]) => {
      if (track.at === "running") return track.outside !== true;
      if (track.at !== "ready") return false;
      if (track.notBefore !== undefined && track.notBefore > options.clock.now()) return false;
      const stage = flow === undefined ? undefined : findWork(flow.flow, run, name, track.stage);
      return flow !== undefined && stage !== undefined && !isOutside(flow, run, stage);
    });
  }

  /** What keeps hundreds of tickets is told of the first. */
  function tellOnce({ message, hint }: Problem): void {
    const why = message.slice(message.indexOf(": ") + 1);
    if (told.has(why)) return;
    told.add(why);
    log(hint === undefined ? message : `${message}\n${hint}`);
  }
}
