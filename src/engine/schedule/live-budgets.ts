// Budgets while attempts work: what each may still use, with what the others have used beyond their reservations. Whoever carries an attempt
// out gets its room with the job and anew whenever it changes, and ends the attempt by itself where the room ends.

import type { BudgetScope, KeyedLimit } from "../../core/budget/budget.ts";
import { addSums, type AttemptRoom, overrunOf, roomOf, type Sums } from "../../core/budget/room.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { limitsOf } from "../../core/run/run-budget.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import type { ReadyAttempt } from "../ready-attempt.ts";
import type { EngineBudgets } from "./budgets.ts";

export type LiveBudgets = {
  /** Follows an attempt from its start; null where no budget limits it. */
  open(run: Run, ready: ReadyAttempt): Promise<OpenRoom | null>;
  /** What working attempts have used on top of their reservations. */
  readonly overruns: Overruns;
  /** Money was raised, booked or put aside. */
  note(events: readonly RunEvent[]): void;
};

export type Overruns = (scope: BudgetScope, key: string) => Sums;

export type OpenRoom = {
  now(): AttemptRoom;
  /** Called with every other room, until it is closed. */
  watch(onChange: (room: AttemptRoom) => void): void;
  spent(usage: Usage): void;
  close(): void;
};

export type LiveBudgetsDeps = {
  readonly store: Pick<Store, "booked">;
  readonly onError: (runId: string | null, error: unknown) => void;
};

/** Several changes in a row are one look; other processes change the books without a word. */
const SOON_MS = 200;
const EVERY_MS = 5000;

type Working = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly startedAt: string;
  limits: readonly KeyedLimit[];
  reserved: Sums;
  usage: Usage | undefined;
  room: AttemptRoom;
  onChange: (room: AttemptRoom) => void;
};

const NOTHING: Sums = { usd: 0, tokens: 0 };

export function createLiveBudgets(
  { store, onError }: LiveBudgetsDeps,
  budgets: Pick<EngineBudgets, "of">,
  loadRun: (runId: string) => Promise<Run | undefined>,
): LiveBudgets {
  const working = new Set<Working>();
  const looks = timedLooks(async () => {
    for (const each of working) {
      try {
        const run = await loadRun(each.runId);
        if (run !== undefined && working.has(each)) await look(each, run);
      } catch (error) {
        onError(each.runId, error);
      }
    }
  });

  /** The room as the books are now. */
  async function look(each: Working, run: Run): Promise<void> {
    const sizes = budgets.of(run);
    const limits = limitsOf(sizes, run, each.startedAt);
    const booked = await store.booked({ ...each, keys: limits });
    const reserved = booked.own ?? NOTHING;
    Object.assign(each, { limits, reserved });
    const own = { usd: -reserved.usd, tokens: -reserved.tokens };
    const others = (limit: KeyedLimit): Sums =>
      addSums(addSums(booked.keys[limits.indexOf(limit)] ?? NOTHING, own), overrunIn(working, limit, each));
    const room = roomOf({ limits, sizes, others, reserved });
    const isSame = JSON.stringify(room) === JSON.stringify(each.room);
    each.room = room;
    if (!isSame) each.onChange(room);
  }

  return {
    overruns: (scope, key) => overrunIn(working, { scope, key }),
    async open(run, { stage, attempt, track }) {
      const state = run.tracks[track];
      if (state?.at !== "running" || state.metered === undefined) return null;
      const each = workingOf({ runId: run.id, stage, attempt, startedAt: state.since });
      working.add(each);
      looks.begin();
      await look(each, run).catch((error: unknown) => onError(run.id, error));
      return {
        now: () => each.room,
        watch: (onChange) => void (each.onChange = onChange),
        spent(usage) {
          const before = overrunOf(each.usage, each.reserved);
          each.usage = usage;
          const after = overrunOf(usage, each.reserved);
          if (before.usd !== after.usd || before.tokens !== after.tokens) looks.soon();
        },
        close() {
          working.delete(each);
          if (working.size === 0) looks.end();
        },
      };
    },
    note(events) {
      if (working.size > 0 && events.some(({ type }) => CHANGES.has(type))) looks.soon();
    },
  };
}

const CHANGES: ReadonlySet<RunEvent["type"]> = new Set(["budget.raised", "usage.recorded", "stage.started"]);

function workingOf(place: Pick<Working, "runId" | "stage" | "attempt" | "startedAt">): Working {
  return { ...place, limits: [], reserved: NOTHING, usage: undefined, room: [], onChange: () => {} };
}

function overrunIn(
  working: ReadonlySet<Working>,
  { scope, key }: Pick<KeyedLimit, "scope" | "key">,
  except?: Working,
): Sums {
  const counts = (each: Working): boolean =>
    each !== except && each.limits.some((limit) => limit.scope === scope && limit.key === key);
  return [...working].filter(counts).reduce((sum, each) => addSums(sum, overrunOf(each.usage, each.reserved)), NOTHING);
}

function timedLooks(look: () => Promise<void>) {
  let once: NodeJS.Timeout | undefined;
  let regular: NodeJS.Timeout | undefined;
  return {
    begin: () => void (regular ??= setInterval(() => void look(), EVERY_MS).unref()),
    soon: () =>
      void (once ??= setTimeout(() => {
        once = undefined;
        void look();
      }, SOON_MS)),
    end() {
      clearTimeout(once);
      clearInterval(regular);
      once = undefined;
      regular = undefined;
    },
  };
}
