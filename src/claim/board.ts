// The board of a node: which workers have joined, what each may take, and which claims they hold. It is kept in memory: workers repeat who
// they are and what they hold with every request, and the store names the claims that count. A worker that is silent for a lease loses its
// claims; a node that has just started gives every worker a whole lease to come back.

import { randomBytes } from "node:crypto";
import { err, ok, type Result } from "../core/result.ts";
import type { PlaceWish } from "../core/worker/place-wish.ts";
import { type FromWorker, type HeldClaim, WORKER_PROTOCOL, type WorkerHello } from "../core/worker/wire.ts";
import type { WorkerPlace } from "../settings/workers.ts";
import { type ClaimHooks, createClaim, type WorkClaim } from "./claim.ts";
import type { Numbered } from "./messages.ts";
import { choosePlace, type Seat } from "./place.ts";
import { openStates, type WorkerState, type WorkerStates } from "./states.ts";

export type BoardOptions = {
  readonly home: string;
  readonly place: WorkerPlace;
  readonly leaseMs: number;
  /** Milliseconds that only grow. */
  readonly nowMs: () => number;
  /** ISO 8601, for people. */
  readonly now: () => string;
  /** A slot may be free, or a worker has joined. */
  readonly onFree: () => void;
  readonly log: (line: string) => void;
};

/** The key that a request came with. */
export type WorkerKey = { readonly id: string; readonly labels: readonly string[] | null };

export type WorkerPoll = {
  readonly hello: WorkerHello;
  /** The node that its numbers are about; another one begins at zero. */
  readonly node: string | null;
  readonly held: readonly HeldClaim[];
  readonly isLeaving: boolean;
};

export type PollAnswer = {
  readonly node: string;
  readonly leaseMs: number;
  readonly state: WorkerState;
  readonly claims: readonly { readonly claim: string; readonly messages: readonly Numbered[] }[];
  /** Claims that the worker names and that are no longer good: it ends their agents and keeps their work. */
  readonly over: readonly string[];
};

export type Delivery = {
  readonly claim: string;
  readonly instance: string;
  readonly node: string;
  /** The number of the first message. */
  readonly from: number;
  readonly messages: readonly FromWorker[];
};

export type SeenWorker = Omit<WorkerHello, "instance" | "protocol"> & {
  readonly state: WorkerState;
  readonly heardAt: string;
  /** run/stage/attempt */
  readonly attempts: readonly string[];
};

export type WorkerBoard = Places & {
  /** Waits until there is something to say, for a small part of the lease at most. */
  poll(key: WorkerKey, poll: WorkerPoll, signal: AbortSignal): Promise<Result<PollAnswer>>;
  /** The number of the last message that was applied. */
  take(key: WorkerKey, delivery: Delivery): Promise<Result<number>>;
  /** The claim, for its worker alone. */
  claimFor(key: WorkerKey, id: string): Result<WorkClaim>;
  /** A new claim for an attempt that has a slot of a worker. */
  open(key: string): WorkClaim;
  /** A claim that an earlier node gave: its worker is expected to come back with it. */
  adopt(identity: { readonly id: string; readonly worker: string }, key: string, stage: string): WorkClaim;
  /** Nothing that names it counts any more. */
  forget(id: string): void;
  /** The store was read: from now on a claim that is not here is no claim. */
  ready(): void;
  list(): readonly SeenWorker[];
  /** False if there is no such worker. */
  steer(name: string, state: WorkerState): boolean;
  close(): void;
};

/** What the engine asks of the board. */
type Places = {
  hasFree(): boolean;
  book(wish: PlaceWish, isFreeHere: boolean): "here" | "worker" | undefined;
  isLeft(wish: PlaceWish): boolean;
  isBooked(key: string): boolean;
  release(key: string): void;
};

type Held = {
  readonly claim: WorkClaim;
  instance: string | null;
  sinceMs: number;
  /** Its worker has said that it has it: if it no longer does, it has lost it. */
  wasNamed: boolean;
};
type TakenSeat = Seat & { readonly keyId: string; heardMs: number; wake: () => void };

type State = BoardOptions & {
  /** Names this process: numbers of messages are about it alone. */
  readonly node: string;
  readonly seats: Map<string, TakenSeat>;
  /** run/stage/attempt -> worker */
  readonly booked: Map<string, string>;
  /** Those of them whose agents have ended. */
  readonly reported: Set<string>;
  readonly claims: Map<string, Held>;
  /** run/stage -> worker */
  readonly lastWorker: Map<string, string>;
  readonly states: WorkerStates;
  /** The last request of each worker: what an older one says is no longer so. */
  readonly latest: Map<string, WorkerPoll>;
  isReady: boolean;
};

const LOOK_MS = 250;
const POLL_MS = 10_000;

export function createBoard(options: BoardOptions): WorkerBoard {
  const state: State = {
    ...options,
    node: randomBytes(8).toString("hex"),
    seats: new Map(),
    booked: new Map(),
    reported: new Set(),
    claims: new Map(),
    lastWorker: new Map(),
    states: openStates(options.home),
    latest: new Map(),
    isReady: false,
  };
  const timer = setInterval(() => lookAtLeases(state), LOOK_MS).unref();
  return {
    poll: (key, poll, signal) => pollAt(state, key, poll, signal),
    take: (key, delivery) => takeAt(state, key, delivery),
    claimFor(key, id) {
      const held = state.claims.get(id);
      const isTheirs = held !== undefined && state.seats.get(held.claim.worker)?.keyId === key.id;
      return isTheirs ? ok(held.claim) : err(lostClaim(id));
    },
    ...placesOf(state),
    ...claimsOf(state),
    ready() {
      state.isReady = true;
      for (const held of state.claims.values()) held.sinceMs = options.nowMs();
    },
    list: () => listOf(state),
    steer(name, next) {
      const seat = state.seats.get(name);
      if (seat === undefined && state.states.of(name) === "open") return false;
      state.states.set(name, next);
      seat?.wake();
      options.onFree();
      return true;
    },
    close() {
      clearInterval(timer);
      for (const { wake } of state.seats.values()) wake();
    },
  };
}

function lookAtLeases(state: State): void {
  const { seats, claims, nowMs, leaseMs, log } = state;
  const silent = [...seats.values()].filter(({ heardMs }) => nowMs() - heardMs > leaseMs);
  for (const { name } of silent) {
    seats.delete(name);
    log(`worker ${name} is gone: nothing was heard of it for ${Math.round(leaseMs / 1000)} s`);
  }
  if (!state.isReady) return;
  for (const [id, held] of claims) {
    const { worker } = held.claim;
    if (!seats.has(worker) && nowMs() - held.sinceMs > leaseMs) lose(state, id, `worker ${worker} is gone`);
  }
}

function lose({ claims }: State, id: string, why: string): void {
  const held = claims.get(id);
  claims.delete(id);
  held?.claim.end({ type: "lost", why });
}

/** A slot is free when its agent has ended: the next attempt is prepared while the commits and the record of the last one are stored. */
function freeOf({ booked, reported, states }: State, { name, slots }: Seat): number {
  const used = [...booked].filter(([key, worker]) => worker === name && !reported.has(key)).length;
  return states.of(name) === "open" ? slots - used : 0;
}

async function pollAt(
  state: State,
  key: WorkerKey,
  poll: WorkerPoll,
  signal: AbortSignal,
): Promise<Result<PollAnswer>> {
  const { seats, node, nowMs } = state;
  const { name, instance } = poll.hello;
  const seat = seatOf(state, key, poll);
  if (!seat.ok) return seat;
  if (state.isReady && freeOf(state, seat.value) > 0) state.onFree();
  state.latest.set(name, poll);
  const first = answerTo(state, poll);
  if (poll.isLeaving && poll.held.length === 0) {
    seats.delete(name);
    state.log(`worker ${name} has left`);
  }
  if (first.claims.length > 0 || first.over.length > 0 || poll.node !== node || poll.isLeaving) return ok(first);
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, Math.min(POLL_MS, state.leaseMs / 8));
    const wake = (): void => {
      clearTimeout(late);
      resolve();
    };
    seat.value.wake = wake;
    signal.addEventListener("abort", wake, { once: true });
  });
  const now = seats.get(name);
  if (now?.instance === instance && !signal.aborted) now.heardMs = nowMs();
  return ok(answerTo(state, poll));
}

/** The seat of the caller, or why it has none. */
function seatOf(state: State, key: WorkerKey, { hello, isLeaving }: WorkerPoll): Result<TakenSeat> {
  const { name, instance, protocol, version, labels } = hello;
  if (protocol !== WORKER_PROTOCOL)
    return err({
      code: "worker_version",
      message: `This node speaks protocol ${WORKER_PROTOCOL} and the worker ${protocol} (version ${version}).`,
      hint: "Install the same version of Passrail on both machines.",
    });
  const foreign = key.labels === null ? undefined : labels.find((label) => key.labels?.includes(label) === false);
  if (foreign !== undefined)
    return err({
      code: "label_not_allowed",
      message: `The worker's key is not made for the label ${foreign}.`,
      hint: "passrail key create NAME --scope worker --labels …",
    });
  const known = state.seats.get(name);
  const isOther = known !== undefined && known.instance !== instance;
  if (isOther && (known.keyId !== key.id || known.startedAt > hello.startedAt))
    return err({
      code: "worker_name_taken",
      message: `Another worker is called ${name}.`,
      hint: "Choose another name: --name",
    });
  if (known === undefined) state.log(`worker ${name} has joined: ${hello.slots} slots, version ${version}`);
  const seat: TakenSeat = {
    ...hello,
    keyId: key.id,
    heardMs: state.nowMs(),
    heardAt: state.now(),
    slots: isLeaving ? 0 : hello.slots,
    wake: known?.wake ?? (() => {}),
  };
  state.seats.set(name, seat);
  return ok(seat);
}

function answerTo(state: State, poll: WorkerPoll): PollAnswer {
  const { node, leaseMs, states } = state;
  const isSettled = state.isReady && state.latest.get(poll.hello.name) === poll;
  const told = isSettled ? settleHeld(state, poll) : { claims: [], over: [] };
  return { node, leaseMs, state: states.of(poll.hello.name), ...told };
}

/** The claims of the caller with what it has to know, and those that it must give up. */
function settleHeld(
  state: State,
  { hello, held, node: seenNode, isLeaving }: WorkerPoll,
): Pick<PollAnswer, "claims" | "over"> {
  const { claims, node } = state;
  const over: string[] = [];
  const seen = new Map<string, number>();
  for (const each of held) {
    const found = claims.get(each.claim);
    const isAnothers = found !== undefined && found.instance !== null && found.instance !== hello.instance;
    if (found?.claim.worker !== hello.name || isAnothers) over.push(each.claim);
    else {
      found.instance = hello.instance;
      found.wasNamed = true;
      seen.set(each.claim, seenNode === node ? each.seen : 0);
    }
  }
  for (const [id, found] of claims) {
    if (found.claim.worker !== hello.name || seen.has(id)) continue;
    // One that this process adopted, or gave to an earlier process of the worker, is not known there any more; nor is one that it named
    // before and does not name now.
    if (isLeaving || found.instance !== hello.instance || found.wasNamed)
      lose(state, id, `worker ${hello.name} no longer has this attempt`);
  }
  const mine = [...claims.values()].filter(({ claim }) => claim.worker === hello.name);
  const told = mine.map(({ claim }) => ({ claim: claim.id, messages: claim.unseen(seen.get(claim.id) ?? 0) }));
  return { over, claims: told.filter(({ messages }) => messages.length > 0) };
}

async function takeAt(
  { claims, seats, isReady, node }: State,
  key: WorkerKey,
  { claim: id, instance, node: theirs, from, messages }: Delivery,
): Promise<Result<number>> {
  const held = claims.get(id);
  const isTheirs = held !== undefined && seats.get(held.claim.worker)?.keyId === key.id;
  // A claim of an earlier node is the worker's when its next request names it; until then nothing says that it is lost.
  const isUnsettled = isTheirs && (!held.claim.isServed || held.instance === null);
  if (!isReady || theirs !== node || isUnsettled) return err(STARTING);
  if (held === undefined || !isTheirs || held.instance !== instance) return err(lostClaim(id));
  const taken = await held.claim.take(from, messages);
  return held.claim.isOver && taken < from + messages.length - 1 ? err(lostClaim(id)) : ok(taken);
}

function placesOf(state: State): Places {
  const { seats, booked, reported, lastWorker, place } = state;
  return {
    hasFree: () => [...seats.values()].some((seat) => freeOf(state, seat) > 0),
    book(wish, isFreeHere) {
      const stage = `${wish.runId}/${wish.stage}`;
      const open = [...seats.values()].map((seat) => ({ seat, free: freeOf(state, seat) }));
      const chosen = choosePlace(wish, { open, place, isFreeHere, last: lastWorker.get(stage) });
      if (chosen === undefined || chosen === "here") return chosen;
      booked.set(wish.key, chosen.name);
      lastWorker.set(stage, chosen.name);
      return "worker";
    },
    // A worker may join at any moment.
    isLeft: () => false,
    isBooked: (key) => booked.has(key),
    release(key) {
      booked.delete(key);
      reported.delete(key);
    },
  };
}

function claimsOf(state: State): Pick<WorkerBoard, "open" | "adopt" | "forget"> {
  const { seats, booked, reported, claims, lastWorker, nowMs, onFree } = state;
  const hooksOf = (worker: string, key: string): ClaimHooks => ({
    onSend: () => seats.get(worker)?.wake(),
    onReport() {
      if (booked.has(key)) reported.add(key);
      onFree();
    },
  });
  return {
    open(key) {
      const worker = booked.get(key);
      if (worker === undefined) throw new Error(`${key} has no worker`);
      const claim = createClaim({ id: randomBytes(12).toString("hex"), worker, key }, hooksOf(worker, key));
      claims.set(claim.id, { claim, instance: seats.get(worker)?.instance ?? "", sinceMs: nowMs(), wasNamed: false });
      return claim;
    },
    adopt({ id, worker }, key, stage) {
      const claim = createClaim({ id, worker, key }, hooksOf(worker, key));
      booked.set(key, worker);
      lastWorker.set(stage, worker);
      claims.set(id, { claim, instance: null, sinceMs: nowMs(), wasNamed: false });
      return claim;
    },
    forget: (id) => void claims.delete(id),
  };
}

function listOf({ seats, states, booked }: State): readonly SeenWorker[] {
  return [...seats.values()].map(({ name, version, slots, labels, startedAt, heardAt }) => ({
    name,
    version,
    slots,
    labels,
    startedAt,
    heardAt,
    state: states.of(name),
    attempts: [...booked].flatMap(([key, worker]) => (worker === name ? [key] : [])),
  }));
}

const STARTING = {
  code: "node_starting",
  message: "The node has just started and does not know its claims yet.",
  hint: "Ask again.",
};

const lostClaim = (id: string) => ({
  code: "claim_lost",
  message: `The claim ${id} is no longer good: its attempt has ended, or was given to another worker.`,
});
