// Sends the pending deliveries of the log: starts those that are due, records the outcome of each try, and wakes when the next one is due.

import { messageOf } from "../core/result.ts";
import type { Deliveries, NoticeDelivery } from "./deliveries.ts";
import { deliveryAfterTry, planDeliveries } from "./delivery-step.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SendOutcome } from "./send.ts";
import { targetOf } from "./sign.ts";

export type DeliveryPumpOptions = {
  readonly log: Deliveries;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** One try. The signal aborts it when the process closes. */
  readonly send: (endpoint: Endpoint, delivery: NoticeDelivery, signal: AbortSignal) => Promise<SendOutcome>;
  /** Whether an item still waits for an answer; asked before each try. */
  readonly isOpen: (item: string) => Promise<boolean>;
  readonly onProblem: (text: string) => void;
  readonly now: () => number;
  readonly wait: (ms: number, then: () => void) => () => void;
  readonly chance: () => number;
};

export type DeliveryPump = {
  /** Starts due deliveries, now and later. */
  run(): void;
  isRunning(id: string): boolean;
  /** The item of this delivery was answered while it is being sent: no further try. */
  setUnwanted(id: string): void;
  /** Waits for running tries, and aborts them after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

type Running = { readonly endpoint: string; readonly done: Promise<void>; isUnwanted: boolean };

const MAX_WAIT_MS = 60 * 60 * 1000;
/** After a failed write of the log, so that the same message is not sent in a loop. */
const HOLD_MS = 5 * 60 * 1000;

export function createDeliveryPump(options: DeliveryPumpOptions): DeliveryPump {
  const { log, endpoints, now, onProblem } = options;
  const running = new Map<string, Running>();
  const heldUntilMs = new Map<string, number>();
  const stopping = new AbortController();
  let isClosed = false;
  let cancelTimer: () => void = () => undefined;
  return {
    run,
    isRunning: (id) => running.has(id),
    setUnwanted(id) {
      const own = running.get(id);
      if (own !== undefined) own.isUnwanted = true;
    },
    async close(graceMs) {
      isClosed = true;
      cancelTimer();
      const grace = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all([...running.values()].map(({ done }) => done));
      clearTimeout(grace);
    },
  };

  function run(): void {
    if (isClosed) return;
    cancelTimer();
    let inMs = HOLD_MS;
    try {
      inMs = startDue();
    } catch (error) {
      onProblem(`The log of deliveries cannot be written: ${messageOf(error)}.`);
    }
    cancelTimer = Number.isFinite(inMs) ? options.wait(Math.min(inMs, MAX_WAIT_MS), run) : () => undefined;
  }

  function startDue(): number {
    const plan = planDeliveries(log.list(), {
      nowMs: now(),
      endpoints: new Map([...endpoints].map(([name, each]) => [name, isDisabled(log, each) ? "disabled" : "enabled"])),
      running: new Map([...running].map(([id, { endpoint }]) => [id, endpoint])),
      heldUntilMs,
    });
    for (const { delivery, reason } of plan.end) {
      const at = new Date(now()).toISOString();
      log.change(delivery.id, { tries: delivery.tries, attempt: null, state: { status: "failed", at, reason } });
    }
    for (const delivery of plan.start) start(delivery);
    return plan.nextInMs;
  }

  function start(delivery: NoticeDelivery): void {
    const endpoint = endpoints.get(delivery.endpoint);
    if (endpoint === undefined) return;
    const { id } = delivery;
    heldUntilMs.delete(id);
    const isUnwanted = (): boolean => running.get(id)?.isUnwanted === true;
    const done = tryOnce(endpoint, delivery, options, { signal: stopping.signal, isUnwanted }).catch(
      (error: unknown) => {
        heldUntilMs.set(id, now() + HOLD_MS);
        onProblem(`A delivery to "${endpoint.name}" could not be noted: ${messageOf(error)}.`);
      },
    );
    running.set(id, { endpoint: endpoint.name, done, isUnwanted: false });
    void done.then(() => {
      running.delete(id);
      run();
    });
  }
}

/** Whether the endpoint answered 410 and no person has enabled it since. */
export function isDisabled(log: Deliveries, endpoint: Endpoint): boolean {
  return log.isDisabled(endpoint.name, targetOf(endpoint));
}

async function tryOnce(
  endpoint: Endpoint,
  delivery: NoticeDelivery,
  options: DeliveryPumpOptions,
  { signal, isUnwanted }: { readonly signal: AbortSignal; readonly isUnwanted: () => boolean },
): Promise<void> {
  const { chance, log, now, onProblem } = options;
  const { id, notice, tries } = delivery;
  if (notice.item !== null && !(await isWanted(notice.item, options))) {
    const at = new Date(now()).toISOString();
    log.change(id, { tries, attempt: null, state: { status: "withdrawn", at } });
    return;
  }
  const outcome = await options.send(endpoint, delivery, signal);
  // Passrail aborted the try, not the receiver: it does not count.
  if (signal.aborted && outcome.type === "unreachable") return;
  const after = deliveryAfterTry(delivery, outcome, { nowMs: now(), chance: chance(), isUnwanted: isUnwanted() });
  log.change(id, after.change);
  if (after.disablesEndpoint) {
    log.setDisabled(endpoint.name, targetOf(endpoint), true);
    onProblem(`The endpoint "${endpoint.name}" answered 410 and is disabled.`);
  }
  if (after.givenUp !== null) onProblem(`A message to "${endpoint.name}" was given up: ${after.givenUp}.`);
}

/** Where the store cannot say, one notice too many is the smaller fault. */
async function isWanted(item: string, { isOpen }: DeliveryPumpOptions): Promise<boolean> {
  try {
    return await isOpen(item);
  } catch {
    return true;
  }
}
