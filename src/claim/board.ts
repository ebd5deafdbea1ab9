// The board of a node: which workers have joined, what each may take, and which claims they hold. It is kept in memory: workers repeat who
// they are and what they hold with every request, and the store names the claims that count. A worker that is silent for a lease loses its
// claims; a node that has just started gives every worker a whole lease to come back.

import { randomBytes } from "node:crypto";
import { err, ok, type Result } from "../core/result.ts";
import { type FromWorker, type HeldClaim, WORKER_PROTOCOL, type WorkerHello } from "../core/worker/wire.ts";
import type { WorkerPlace } from "../settings/workers.ts";
import { type Claim, createClaim } from "./claim.ts";
import type { Numbered } from "./messages.ts";
import { choosePlace, type Seat } from "./place.ts";
import { openStates, type WorkerState } from "./states.ts";

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

export type Poll = {
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

export type Board = ReturnType<typeof createBoard>;

type Held = { readonly claim: Claim; instance: string | null; sinceMs: number };

const LOOK_MS = 250;
const POLL_MS = 10_000;

export function createBoard(options: BoardOptions) {
  const { leaseMs, nowMs, onFree, log } = options;
  const node = randomBytes(8).toString("hex");
  const seats = new Map<string, Seat & { keyId: string; wake: () => void }>();
  const booked = new Map<string, string>();
  const claims = new Map<string, Held>();
  const lastWorker = new Map<string, string>();
  const states = openStates(options.home);
  let isReady = false;
  const timer = setInterval(lookAtLeases, LOOK_MS).unref();

  function lookAtLeases(): void {
    const silent = [...seats.values()].filter(({ heardMs }) => nowMs() - heardMs > leaseMs);
    for (const { name } of silent) {
      seats.delete(name);
      log(`worker ${name} is gone: nothing was heard of it for ${Math.round(leaseMs / 1000)} s`);
    }
    if (!isReady) return;
    for (const [id, held] of claims) {
      const { worker } = held.claim;
      if (!seats.has(worker) && nowMs() - held.sinceMs > leaseMs) lose(id, `worker ${worker} is gone`);
    }
  }

  function lose(id: string, why: string): void {
    const held = claims.get(id);
    claims.delete(id);
    held?.claim.end({ type: "lost", why });
  }

  const bookedBy = (name: string): number => [...booked.values()].filter((worker) => worker === name).length;
  const free = (seat: Seat): number => (states.of(seat.name) === "open" ? seat.slots - bookedBy(seat.name) : 0);

  /** The seat of the caller, or why it has none. */
  function seatOf(key: WorkerKey, { hello, isLeaving }: Poll): Result<Seat & { wake: () => void }> {
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
    const known = seats.get(name);
    if (
      known !== undefined &&
      known.instance !== instance &&
      (known.keyId !== key.id || known.startedAt > hello.startedAt)
    )
      return err({
        code: "worker_name_taken",
        message: `Another worker is called ${name}.`,
        hint: "Choose another name: --name",
      });
    if (known === undefined) log(`worker ${name} has joined: ${hello.slots} slots, version ${version}`);
    const seat = {
      ...hello,
      keyId: key.id,
      heardMs: nowMs(),
      heardAt: options.now(),
      slots: isLeaving ? 0 : hello.slots,
      wake: known?.wake ?? (() => {}),
    };
    seats.set(name, seat);
    return ok(seat);
  }

  /** The claims of the caller with what it has to know, and those that it must give up. */
  function settleHeld({ hello, held, node: seenNode, isLeaving }: Poll): Pick<PollAnswer, "claims" | "over"> {
    const over: string[] = [];
    const seen = new Map<string, number>();
    for (const each of held) {
      const found = claims.get(each.claim);
      if (found === undefined || found.claim.worker !== hello.name || isAnothers(found, hello.instance))
        over.push(each.claim);
      else {
        found.instance = hello.instance;
        seen.set(each.claim, seenNode === node ? each.seen : 0);
      }
    }
    for (const [id, found] of claims) {
      if (found.claim.worker !== hello.name || seen.has(id)) continue;
      // One that this process adopted, or gave to an earlier process of the worker, is not known there any more.
      if (isLeaving || found.instance !== hello.instance) lose(id, `worker ${hello.name} no longer has this attempt`);
    }
    const mine = [...claims.values()].filter(({ claim }) => claim.worker === hello.name);
    const told = mine.map(({ claim }) => ({ claim: claim.id, messages: claim.unseen(seen.get(claim.id) ?? 0) }));
    return { over, claims: told.filter(({ messages }) => messages.length > 0) };
  }

  const isAnothers = ({ instance }: Held, caller: string): boolean => instance !== null && instance !== caller;

  function answerTo(poll: Poll): PollAnswer {
    const told = isReady ? settleHeld(poll) : { claims: [], over: [] };
    return { node, leaseMs, state: states.of(poll.hello.name), ...told };
  }

  return {
    /** Waits until there is something to say, for a small part of the lease at most. */
    async poll(key: WorkerKey, poll: Poll, signal: AbortSignal): Promise<Result<PollAnswer>> {
      const seat = seatOf(key, poll);
      if (!seat.ok) return seat;
      if (isReady && free(seat.value) > 0) onFree();
      const first = answerTo(poll);
      if (first.claims.length > 0 || first.over.length > 0 || poll.node !== node || poll.isLeaving) return ok(first);
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, Math.min(POLL_MS, leaseMs / 8));
        const wake = (): void => {
          clearTimeout(late);
          resolve();
        };
        const now = seats.get(poll.hello.name);
        if (now !== undefined) now.wake = wake;
        signal.addEventListener("abort", wake, { once: true });
      });
      const now = seats.get(poll.hello.name);
      if (now?.instance === poll.hello.instance && !signal.aborted) Object.assign(now, { heardMs: nowMs() });
      return ok(answerTo(poll));
    },

    /** The number of the last message that was applied. */
    async take(
      key: WorkerKey,
      { claim: id, instance, node: theirs, from, messages }: Delivery,
    ): Promise<Result<number>> {
      const held = claims.get(id);
      const isTheirs = held !== undefined && seats.get(held.claim.worker)?.keyId === key.id;
      if (!isReady || theirs !== node || (isTheirs && !held.claim.isServed)) return err(STARTING);
      if (held === undefined || !isTheirs || held.instance !== instance) return err(lostClaim(id));
      const taken = await held.claim.take(from, messages);
      return held.claim.isOver && taken < from + messages.length - 1 ? err(lostClaim(id)) : ok(taken);
    },

    /** The claim, for its worker alone. */
    claimFor(key: WorkerKey, id: string): Result<Claim> {
      const held = claims.get(id);
      if (held === undefined || seats.get(held.claim.worker)?.keyId !== key.id) return err(lostClaim(id));
      return ok(held.claim);
    },

    hasFree: (): boolean => [...seats.values()].some((seat) => free(seat) > 0),
    book(wish: Parameters<typeof choosePlace>[0], isFreeHere: boolean): "here" | "worker" | undefined {
      const last = lastWorker.get(`${wish.runId}/${wish.stage}`);
      const open = [...seats.values()].map((seat) => ({ seat, free: free(seat) }));
      const chosen = choosePlace(wish, { open, place: options.place, isFreeHere, last });
      if (chosen === undefined || chosen === "here") return chosen;
      booked.set(wish.key, chosen.name);
      lastWorker.set(`${wish.runId}/${wish.stage}`, chosen.name);
      return "worker";
    },
    // A worker may join at any moment.
    isLeft: (): boolean => false,
    isBooked: (key: string): boolean => booked.has(key),
    release(key: string): void {
      booked.delete(key);
    },

    /** A new claim for an attempt that has a slot of a worker. */
    open(key: string): Claim {
      const worker = booked.get(key);
      if (worker === undefined) throw new Error(`${key} has no worker`);
      const claim = createClaim({ id: randomBytes(12).toString("hex"), worker, key }, () => seats.get(worker)?.wake());
      claims.set(claim.id, { claim, instance: seats.get(worker)?.instance ?? "", sinceMs: nowMs() });
      return claim;
    },
    /** A claim that an earlier node gave: its worker is expected to come back with it. */
    adopt({ id, worker }: { readonly id: string; readonly worker: string }, key: string, stage: string): Claim {
      const claim = createClaim({ id, worker, key }, () => seats.get(worker)?.wake());
      booked.set(key, worker);
      lastWorker.set(stage, worker);
      claims.set(id, { claim, instance: null, sinceMs: nowMs() });
      return claim;
    },
    /** Nothing that names it counts any more. */
    forget(id: string): void {
      claims.delete(id);
    },
    /** The store was read: from now on a claim that is not here is no claim. */
    ready(): void {
      isReady = true;
      for (const held of claims.values()) held.sinceMs = nowMs();
    },

    list(): readonly SeenWorker[] {
      return [...seats.values()].map(({ instance: _i, protocol: _p, keyId: _k, wake: _w, heardMs: _h, ...seen }) => ({
        ...seen,
        state: states.of(seen.name),
        attempts: [...booked].flatMap(([key, worker]) => (worker === seen.name ? [key] : [])),
      }));
    },
    /** False if there is no such worker. */
    steer(name: string, state: WorkerState): boolean {
      const seat = seats.get(name);
      if (seat === undefined && states.of(name) === "open") return false;
      states.set(name, state);
      seat?.wake();
      onFree();
      return true;
    },
    close(): void {
      clearInterval(timer);
      for (const { wake } of seats.values()) wake();
    },
  };
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
