// The timeline of a run as bars: queued, agent working, waiting for a person. Time in which the run only waited for people is folded,
// because a night at a gate would squeeze the work to nothing. Positions are shares of the whole width, so drawing needs no measuring.

export type TimedAttempt = {
  readonly stage: string;
  readonly attempt: number;
  readonly readyAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly status: string;
  readonly word: string | null;
  readonly verdict: string | null;
  readonly health: string | null;
};
export type Wait = {
  readonly stage: string;
  readonly kind: string;
  readonly from: string;
  /** Null while it lasts. */
  readonly to: string | null;
  readonly answer: string | null;
};
export type SegmentKind = "queued" | "working" | "waiting";
export type Segment = {
  readonly kind: SegmentKind;
  /** From 0 to 1. */
  readonly begin: number;
  readonly end: number;
  readonly ms: number;
  readonly isOpen: boolean;
  /** Some of it is drawn shorter than it was. */
  readonly isFolded: boolean;
};
export type TimelineRow = {
  readonly key: string;
  readonly stage: string;
  /** Null for a wait. */
  readonly attempt: number | null;
  readonly name: string;
  readonly segments: readonly Segment[];
  readonly outcome: string | null;
};
export type Fold = { readonly begin: number; readonly end: number; readonly ms: number };
export type Timeline = {
  readonly rows: readonly TimelineRow[];
  readonly folds: readonly Fold[];
  readonly totalMs: number;
  readonly workingMs: number;
  readonly waitingMs: number;
};

/** A folded stretch takes this share of the unfolded width; a shorter wait is not folded. */
const FOLD_SHARE = 0.05;

type Span = { readonly kind: SegmentKind; readonly from: number; readonly to: number; readonly isOpen: boolean };

export function layoutTimeline(
  attempts: readonly TimedAttempt[],
  waits: readonly Wait[],
  { now, fold, over }: { readonly now: number; readonly fold: boolean; readonly over: boolean },
): Timeline {
  const rows = [
    ...attempts.map((attempt) => ({
      key: `${attempt.stage}#${attempt.attempt}`,
      stage: attempt.stage,
      attempt: attempt.attempt,
      name: `${attempt.stage} #${attempt.attempt}`,
      spans: spansOf(attempt, now, over),
      outcome: outcomeOf(attempt),
    })),
    ...waits.map((wait, index) => ({
      key: `wait ${index}`,
      stage: wait.stage,
      attempt: null,
      name: `${wait.kind} ${wait.stage}`,
      spans: [spanOf("waiting", Date.parse(wait.from), wait.to === null ? now : Date.parse(wait.to), wait.to === null)],
      outcome: wait.answer,
    })),
  ].toSorted((a, b) => (a.spans[0]?.from ?? 0) - (b.spans[0]?.from ?? 0));
  const spans = rows.flatMap((row) => row.spans);
  const scale = scaleOf(spans, fold);
  return {
    rows: rows.map(({ spans: own, ...row }) => ({
      ...row,
      segments: own.map(({ kind, from, to, isOpen }) => {
        const [begin, end] = [scale.at(from), scale.at(to)];
        const isFolded = kind === "waiting" && scale.folds.some((each) => each.begin >= begin && each.end <= end);
        return { kind, begin, end, ms: to - from, isOpen, isFolded };
      }),
    })),
    folds: scale.folds,
    totalMs: scale.totalMs,
    workingMs: sum(spans, "working"),
    waitingMs: sum(spans, "waiting"),
  };
}

function spansOf({ readyAt, startedAt, endedAt, status }: TimedAttempt, now: number, over: boolean): readonly Span[] {
  const ready = Date.parse(readyAt);
  const isOver = over || (status !== "ready" && status !== "running");
  // A span that was abandoned has no end event: it must not be drawn as still running.
  const end =
    endedAt === null ? (isOver ? (startedAt === null ? ready : Date.parse(startedAt)) : now) : Date.parse(endedAt);
  const start = startedAt === null ? end : Date.parse(startedAt);
  const queued = spanOf("queued", ready, start, startedAt === null && !isOver);
  return startedAt === null ? [queued] : [queued, spanOf("working", start, end, endedAt === null && !isOver)];
}

/** Clocks can be set back between two events; nothing ends before it begins. */
function spanOf(kind: SegmentKind, from: number, to: number, isOpen: boolean): Span {
  return { kind, from, to: Math.max(from, to), isOpen };
}

function outcomeOf({ word, verdict, health, status }: TimedAttempt): string | null {
  if (word !== null) return word;
  if (verdict !== null) return verdict;
  if (health !== null && health !== "complete") return health;
  return status === "interrupted" || status === "canceled" ? status : null;
}

type Scale = { readonly at: (time: number) => number; readonly folds: readonly Fold[]; readonly totalMs: number };

/** Cuts time at every begin and end; each piece is as wide as it is long, unless it is folded. */
function scaleOf(spans: readonly Span[], fold: boolean): Scale {
  const cuts = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const pieces = piecesOf(spans, cuts);
  const open = pieces.reduce((total, { from, to, is }) => total + (is === "waiting" ? 0 : to - from), 0);
  const folded = Math.max(1, open * FOLD_SHARE);
  // Callers ask only for begins and ends, and each of them is a cut.
  const places = new Map<number, number>();
  const folds: Fold[] = [];
  let x = 0;
  for (const { from, to, is } of pieces) {
    const isFolded = fold && is === "waiting" && to - from > folded;
    const width = isFolded ? folded : to - from;
    if (isFolded) folds.push({ begin: x, end: x + width, ms: to - from });
    x += width;
    places.set(to, x);
  }
  const whole = Math.max(1, x);
  return {
    at: (time) => (places.get(time) ?? 0) / whole,
    folds: folds.map(({ begin, end, ms }) => ({ begin: begin / whole, end: end / whole, ms })),
    totalMs: (cuts.at(-1) ?? 0) - (cuts[0] ?? 0),
  };
}

type Piece = { readonly from: number; readonly to: number; readonly is: "busy" | "waiting" | "idle" };

/** One pass along the cuts with a count of open spans, so that thousands of attempts stay cheap. */
function piecesOf(spans: readonly Span[], cuts: readonly number[]): readonly Piece[] {
  const begins = Map.groupBy(spans, ({ from }) => from);
  const ends = Map.groupBy(spans, ({ to }) => to);
  let busy = 0;
  let waiting = 0;
  const count = (list: readonly Span[] | undefined, by: 1 | -1): void => {
    for (const { kind, from, to } of list ?? []) {
      if (from === to) continue;
      if (kind === "waiting") waiting += by;
      else busy += by;
    }
  };
  const pieces: Piece[] = [];
  cuts.forEach((from, index) => {
    count(ends.get(from), -1);
    count(begins.get(from), 1);
    const to = cuts[index + 1];
    if (to !== undefined) pieces.push({ from, to, is: busy > 0 ? "busy" : waiting > 0 ? "waiting" : "idle" });
  });
  return pieces;
}

function sum(spans: readonly Span[], kind: SegmentKind): number {
  return spans.reduce((total, span) => total + (span.kind === kind ? span.to - span.from : 0), 0);
}
