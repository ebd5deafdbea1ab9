// Tells people through webhooks and commands. A notice is written to the log and that is all its sender waits for; sending, trying again and giving up
// happen beside, and go on after a restart. A receiver sees each message at least once, always under the same id.

import { err, ok, type Result } from "../core/result.ts";
import { type Resolve, resolveBySystem } from "./address.ts";
import { type Delivery, type DeliveryState, openDeliveries } from "./deliveries.ts";
import { runCommand } from "./command.ts";
import { checkEndpoint, type Endpoint } from "./endpoint.ts";
import { messageOf } from "./message.ts";
import type { Notice, Notifier } from "./notify.ts";
import { afterTry } from "./schedule.ts";
import { type Outcome, send } from "./send.ts";
import { headersOf, idOf, targetOf } from "./sign.ts";

export type WebhookNotifierOptions = {
  /** All of them pass `checkEndpoint`. */
  readonly endpoints: readonly Endpoint[];
  /** In the home folder. Only the process that performs may open it. */
  readonly logFile: string;
  /** Where a person can look at what a notice is about. */
  readonly linkTo?: (notice: Notice) => string | null;
  /** Whether an item still waits for an answer; asked before each try, since anyone may have answered it meanwhile. */
  readonly isOpen?: (item: string) => Promise<boolean>;
  /** Told what could not be delivered and why, in one sentence. */
  readonly onProblem?: (text: string) => void;
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  /** How long closing waits for what is under way. */
  readonly graceMs?: number;
  readonly now?: () => number;
  /** Calls once after a while; the result calls it off. */
  readonly wait?: (ms: number, then: () => void) => () => void;
  /** From 0 to 1. */
  readonly chance?: () => number;
};

export type WebhookNotifier = Notifier & {
  /** Oldest first, the last few hundred. */
  deliveries(): readonly Delivery[];
  /** What is sent to, by name. */
  endpoints(): readonly EndpointState[];
  /** Sends a few words to one endpoint, whatever events it wants. */
  sendTest(endpoint: string): Promise<Result<Delivery>>;
  /** Sends it again under its old id, whatever became of it. */
  redeliver(id: string): Promise<Result<Delivery>>;
  /** The item was answered elsewhere: what is not sent yet is not sent. Gives how many those were. */
  withdraw(item: string): Promise<number>;
  /** Whether an endpoint that answered 410 is left out. */
  isDisabled(endpoint: string): boolean;
  /** Uses a disabled endpoint again. */
  enable(endpoint: string): Promise<Result<null>>;
  /** Lets what is under way end for a short while; whatever is pending then stays in the log. */
  close(): Promise<void>;
};

export type EndpointState = {
  readonly name: string;
  readonly format: Endpoint["format"];
  /** It answered 410: nothing is sent to it until it is enabled again. */
  readonly disabled: boolean;
  readonly pending: number;
  /** Why the last try failed; null where it did not. */
  readonly failing: string | null;
};

const TIMEOUT_MS = 15_000;
/** At once per endpoint: one that hangs holds up only its own. */
const MAX_RUNNING = 4;
const MAX_WAIT_MS = 60 * 60 * 1000;
const GRACE_MS = 5000;
/** When the log could not be written, so that the same message is not sent in a loop. */
const HOLD_MS = 5 * 60 * 1000;
/** Longer than all tries take together. Until then another process may know the endpoint. */
const ORPHANED_MS = 5 * 24 * 60 * 60 * 1000;
/** More is not sent anyway. */
const MAX_TEXT = 6000;

export function openWebhookNotifier(options: WebhookNotifierOptions): WebhookNotifier {
  const {
    linkTo = () => null,
    isOpen = async () => true,
    onProblem = () => {},
    resolve = resolveBySystem,
    timeoutMs = TIMEOUT_MS,
    graceMs = GRACE_MS,
    now = Date.now,
    wait = waitUnreferenced,
    chance = Math.random,
  } = options;
  const endpoints = new Map(options.endpoints.map((endpoint) => [requireEndpoint(endpoint).name, endpoint]));
  const log = openDeliveries(options.logFile);
  const running = new Map<string, { readonly endpoint: string; readonly done: Promise<void> }>();
  /** Answered elsewhere while they were being sent. */
  const unwanted = new Set<string>();
  const heldUntil = new Map<string, number>();
  const stopping = new AbortController();
  let isClosed = false;
  let callOff: () => void = () => {};
  pump();

  return {
    async notify(notice) {
      if (isClosed) return false;
      let taken = false;
      for (const endpoint of endpoints.values()) {
        if (endpoint.events !== null && !endpoint.events.includes(notice.event)) continue;
        if (isOff(endpoint)) continue;
        queue(endpoint, notice);
        taken = true;
      }
      pump();
      return taken;
    },
    deliveries: () => log.list(),
    endpoints: () => [...endpoints.values()].map(stateOf),
    async sendTest(name) {
      const endpoint = endpoints.get(name);
      if (endpoint === undefined) return problem("endpoint_not_found", `There is no endpoint "${shown(name)}".`);
      if (isOff(endpoint)) return problem("endpoint_disabled", `The endpoint "${name}" is disabled.`);
      const delivery = queue(endpoint, TEST);
      pump();
      return ok(log.find(delivery.id) ?? delivery);
    },
    async redeliver(id) {
      const found = log.find(id);
      if (found === undefined) return problem("delivery_not_found", `There is no delivery ${shown(id)} in the log.`);
      const endpoint = endpoints.get(found.endpoint);
      if (endpoint === undefined)
        return problem("endpoint_not_found", `There is no endpoint "${found.endpoint}" any more.`);
      if (isOff(endpoint)) return problem("endpoint_disabled", `The endpoint "${found.endpoint}" is disabled.`);
      if (running.has(id))
        return problem("delivery_running", `The delivery ${shown(id)} is being sent at this moment.`);
      log.change(id, { tries: 0, attempt: null, state: { status: "pending", dueAt: iso(now()) } });
      pump();
      return ok(log.find(id) ?? found);
    },
    async withdraw(item) {
      const pending = log.list().filter(({ notice, state }) => notice.item === item && state.status === "pending");
      const unsent = pending.filter(({ id }) => !running.has(id));
      for (const { id } of pending) if (running.has(id)) unwanted.add(id);
      for (const { id, tries } of unsent) {
        log.change(id, { tries, attempt: null, state: { status: "withdrawn", at: iso(now()) } });
      }
      return unsent.length;
    },
    isDisabled(name) {
      const endpoint = endpoints.get(name);
      return endpoint !== undefined && isOff(endpoint);
    },
    async enable(name) {
      const endpoint = endpoints.get(name);
      if (endpoint === undefined) return problem("endpoint_not_found", `There is no endpoint "${shown(name)}".`);
      if (isOff(endpoint)) log.setDisabled(name, targetOf(endpoint), false);
      return ok(null);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      callOff();
      const grace = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all([...running.values()].map(({ done }) => done));
      clearTimeout(grace);
      log.close();
    },
  };

  function queue(endpoint: Endpoint, notice: Notice): Delivery {
    const id = idOf(endpoint, notice);
    // Told twice, by an engine that crashed before it could note that it had told.
    const known = log.find(id);
    if (known !== undefined) return known;
    const at = iso(now());
    const kept = { ...notice, text: notice.text.slice(0, MAX_TEXT) };
    const state = { status: "pending", dueAt: at } as const;
    const added = { id, endpoint: endpoint.name, queuedAt: at, notice: kept, tries: 0, history: [], state };
    log.add(added);
    return added;
  }

  /** Starts what is due and has room, and comes back when the next one is due. */
  function pump(): void {
    if (isClosed) return;
    callOff();
    let inMs = HOLD_MS;
    try {
      inMs = startDue();
    } catch (error) {
      onProblem(`The log of deliveries cannot be written: ${messageIn(error)}.`);
    }
    callOff = Number.isFinite(inMs) ? wait(Math.min(inMs, MAX_WAIT_MS), pump) : () => {};
  }

  /** Until the next one is due; infinite when nothing waits for a time. */
  function startDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const delivery of waitingFirst(log.list())) {
      const { id, state } = delivery;
      if (state.status !== "pending" || running.has(id)) continue;
      const endpoint = endpoints.get(delivery.endpoint);
      if (endpoint === undefined) {
        if (now() - Date.parse(delivery.queuedAt) > ORPHANED_MS) end(delivery, "the endpoint was removed");
        continue;
      }
      if (isOff(endpoint)) {
        end(delivery, "the endpoint is disabled");
        continue;
      }
      const inMs = Math.max(Date.parse(state.dueAt), heldUntil.get(id) ?? 0) - now();
      if (inMs > 0) next = Math.min(next, inMs);
      else if (runningFor(endpoint) < MAX_RUNNING) start(endpoint, delivery);
    }
    return next;
  }

  function start(endpoint: Endpoint, delivery: Delivery): void {
    const { id } = delivery;
    heldUntil.delete(id);
    const done = attempt(endpoint, delivery).catch((error: unknown) => {
      heldUntil.set(id, now() + HOLD_MS);
      onProblem(`A delivery to "${endpoint.name}" could not be noted: ${messageIn(error)}.`);
    });
    running.set(id, { endpoint: endpoint.name, done });
    void done.then(() => {
      running.delete(id);
      unwanted.delete(id);
      pump();
    });
  }

  function runningFor({ name }: Endpoint): number {
    return [...running.values()].filter(({ endpoint }) => endpoint === name).length;
  }

  async function attempt(endpoint: Endpoint, { id, notice, queuedAt, tries }: Delivery): Promise<void> {
    if (notice.item !== null && !(await isWanted(notice.item))) {
      log.change(id, { tries, attempt: null, state: { status: "withdrawn", at: iso(now()) } });
      return;
    }
    const outcome = await tryOnce(endpoint, { id, notice, queuedAt });
    // Ended by us, not by the receiver: it counts as not tried.
    if (stopping.signal.aborted && outcome.type === "unreachable") return;
    const at = iso(now());
    const next = afterTry(outcome, tries + 1, chance());
    const result = next.type === "delivered" ? "delivered" : next.reason;
    const state: DeliveryState =
      next.type === "delivered"
        ? { status: "delivered", at }
        : next.type !== "again"
          ? { status: "failed", at, reason: next.reason }
          : unwanted.has(id)
            ? { status: "withdrawn", at }
            : { status: "pending", dueAt: iso(now() + next.inMs) };
    log.change(id, { tries: tries + 1, attempt: { at, result }, state });
    if (next.type === "disable") {
      log.setDisabled(endpoint.name, targetOf(endpoint), true);
      onProblem(`The endpoint "${endpoint.name}" answered 410 and is disabled.`);
    }
    if (next.type === "give-up") onProblem(`A message to "${endpoint.name}" was given up: ${next.reason}.`);
  }

  function tryOnce(
    endpoint: Endpoint,
    { id, notice, queuedAt }: Pick<Delivery, "id" | "notice" | "queuedAt">,
  ): Promise<Outcome> {
    const link = linkTo(notice);
    if (endpoint.format === "command") {
      return runCommand(endpoint.argv, { ...notice, link }, { timeoutMs, signal: stopping.signal });
    }
    const { url, body } = messageOf(endpoint, notice, { at: queuedAt, link });
    const headers = headersOf(endpoint, id, body, now());
    const outgoing = { url, headers, body, permissions: endpoint, ca: endpoint.ca };
    return send(outgoing, { resolve, timeoutMs, signal: stopping.signal });
  }

  /** When that cannot be found out, telling once too often is the smaller fault. */
  async function isWanted(item: string): Promise<boolean> {
    try {
      return await isOpen(item);
    } catch {
      return true;
    }
  }

  function stateOf(endpoint: Endpoint): EndpointState {
    const own = log.list().filter((delivery) => delivery.endpoint === endpoint.name);
    const tried = own.filter(({ history }) => history.length > 0);
    const last = tried.toSorted((a, b) => lastTry(a).at.localeCompare(lastTry(b).at)).at(-1);
    const result = last === undefined ? "delivered" : lastTry(last).result;
    return {
      name: endpoint.name,
      format: endpoint.format,
      disabled: isOff(endpoint),
      pending: own.filter(({ state }) => state.status === "pending").length,
      failing: result === "delivered" ? null : result,
    };
  }

  function end({ id, tries }: Delivery, reason: string): void {
    log.change(id, { tries, attempt: null, state: { status: "failed", at: iso(now()), reason } });
  }

  function isOff(endpoint: Endpoint): boolean {
    return log.isDisabled(endpoint.name, targetOf(endpoint));
  }
}

const TEST: Notice = {
  runId: "",
  to: "you",
  event: "test",
  text: "A test of Passrail: whoever reads this will be told when a run waits for an answer.",
  item: null,
};

function lastTry({ history }: Delivery): { readonly at: string; readonly result: string } {
  return history.at(-1) ?? { at: "", result: "delivered" };
}

/** Where a person is waited for, before what is only told. */
function waitingFirst(deliveries: readonly Delivery[]): readonly Delivery[] {
  return deliveries.toSorted((a, b) => Number(a.notice.item === null) - Number(b.notice.item === null));
}

function requireEndpoint(endpoint: Endpoint): Endpoint {
  const checked = checkEndpoint(endpoint);
  if (!checked.ok) throw new Error(checked.error.message);
  return checked.value;
}

/** A process that has nothing else to do need not stay for a message that is due in hours. */
function waitUnreferenced(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms).unref();
  return () => clearTimeout(timer);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function messageIn(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}

function shown(text: string): string {
  return text.slice(0, 60);
}

function problem(code: string, message: string): Result<never> {
  return err({ code, message });
}
