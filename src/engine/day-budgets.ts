// Lets runs that wait for the day's budget go on without a person: on a new day, when somebody raised it for another run, or when the
// settings allow more now. Which run waits and who raised is in the runs, so a restart loses nothing.

import { type Budgets, type BudgetUnit, dayOf } from "../core/budget/budget.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { InboxItem, Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import type { EngineListener } from "./listeners.ts";

export type DayBudgets = Required<Pick<EngineListener, "onChange" | "onElsewhere">> & {
  /** One look; also called by the timer and after changes. */
  look(): Promise<void>;
  close(): Promise<void>;
};

export type DayBudgetOptions = {
  readonly store: Pick<Store, "inbox" | "listRuns" | "loadRun">;
  readonly engine: Pick<Engine, "deliver">;
  readonly clock: Pick<Clock, "now">;
  readonly budgets: () => Budgets;
  readonly onError: (runId: string | null, error: unknown) => void;
};

const EVERY_MS = 30_000;
/** How soon after midnight the runs go on. */
const DAY_MS = 1000;
/** A raise of today is in a run that changed today: among the newest ones. */
const LOOKED_AT_MOST = 200;

export function openDayBudgets(options: DayBudgetOptions): DayBudgets {
  const { clock, onError } = options;
  let turn: Promise<void> = Promise.resolve();
  let isAsked = false;
  const look = (): Promise<void> => {
    if (isAsked) return turn;
    isAsked = true;
    turn = turn.then(async () => {
      isAsked = false;
      await renewAll(options).catch((error: unknown) => onError(null, error));
    });
    return turn;
  };
  let day = dayOf(clock.now());
  const lookOnNewDay = (): void => {
    const today = dayOf(clock.now());
    if (today === day) return;
    day = today;
    void look();
  };
  const timers = [setInterval(() => void look(), EVERY_MS).unref(), setInterval(lookOnNewDay, DAY_MS).unref()];
  void look();
  return {
    look,
    onChange(_run, events) {
      if (events.some(isAboutBudget)) void look();
    },
    onElsewhere({ raised = [] }) {
      if (raised.length > 0) void look();
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await turn;
    },
  };
}

function isAboutBudget({ type }: RunEvent): boolean {
  return type === "budget.raised" || type === "budget.reached";
}

type BudgetItem = InboxItem & { readonly kind: "budget" };

async function renewAll({ store, engine, clock, budgets }: DayBudgetOptions): Promise<void> {
  const waiting = (await store.inbox()).flatMap(({ runId, item }) =>
    item.kind === "budget" && item.scope === "day" ? [{ runId, item }] : [],
  );
  if (waiting.length === 0) return;
  const today = dayOf(clock.now());
  const raised = await largestRaise(store, today);
  for (const { runId, item } of waiting) {
    const run = (await store.loadRun(runId))?.run;
    const why = run === undefined ? undefined : wayOn(run, item, { today, raised, budgets: budgets() });
    // The same reason has the same id: it is applied once, whichever process delivers it.
    if (why !== undefined)
      await engine.deliver(runId, why, "engine", `renew:${item.number}:${why.because}:${why.usd}:${why.tokens}`);
  }
}

type Now = { readonly today: string; readonly raised: Amounts; readonly budgets: Budgets };
type Amounts = Readonly<Record<BudgetUnit, number>>;

/** Undefined while it has to wait. */
function wayOn(
  run: Run,
  { number, key, unit, limit }: BudgetItem,
  { today, raised, budgets }: Now,
): (SignalBody & { type: "budget.renewed" }) | undefined {
  const nothing = { usd: 0, tokens: 0 };
  if (key < today) return { type: "budget.renewed", number, because: "a new day has begun", ...nothing };
  const own = run.raised?.find((each) => each.scope === "day" && each.key === key)?.[unit] ?? 0;
  const size = budgets.day[unit];
  if (size === null || size + own > limit)
    return { type: "budget.renewed", number, because: "the settings allow more", ...nothing };
  const more = raised[unit] - own;
  if (more <= 0) return undefined;
  return {
    type: "budget.renewed",
    number,
    because: "the day's budget was raised",
    ...nothing,
    [unit]: more,
  };
}

/** A raise of the day counts for every run of the day. */
async function largestRaise(store: DayBudgetOptions["store"], today: string): Promise<Amounts> {
  let [usd, tokens] = [0, 0];
  for (const { id } of await store.listRuns({ limit: LOOKED_AT_MOST })) {
    const found = (await store.loadRun(id))?.run.raised?.find(({ scope, key }) => scope === "day" && key === today);
    usd = Math.max(usd, found?.usd ?? 0);
    tokens = Math.max(tokens, found?.tokens ?? 0);
  }
  return { usd, tokens };
}
