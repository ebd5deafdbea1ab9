// How far an account has used up a limit of its vendor, as an agent's program reports it while it works. Near the end of a window new
// attempts start one at a time: several at once would all run into the wall, each in the middle of its work.

/** One window of an account. */
export type LimitUse = {
  /** `five hour`, `weekly`, in the vendor's words. */
  readonly window: string;
  /** Of the whole: 0.92. */
  readonly share: number;
  readonly resetsAt: string | null;
};

/** The cause of a hold that slows starts down and prevents none. */
export const LIMIT_NEAR = "limit_near";

/** New starts go one at a time from this share on. */
export const NEAR_PERCENT = 90;

/** A window without a known end counts for this time. */
const UNTOLD_MS = 60 * 60_000;
/** A week's window and a day; a later end is not believed. */
const LONGEST_MS = 8 * 24 * 60 * 60_000;

/** The fullest window that has not ended; undefined if there is none. */
export function fullest(uses: readonly LimitUse[], nowMs: number): LimitUse | undefined {
  return uses
    .filter(({ share, resetsAt }) => isShare(share) && (resetsAt === null || Date.parse(resetsAt) > nowMs))
    .toSorted((one, other) => other.share - one.share)[0];
}

/** How long starts stay slow; undefined below the threshold. */
export function nearMs({ share, resetsAt }: LimitUse, percent: number, nowMs: number): number | undefined {
  if (!isShare(share) || share * 100 < percent) return undefined;
  const wait = resetsAt === null ? UNTOLD_MS : Date.parse(resetsAt) - nowMs;
  return wait > 0 ? Math.min(wait, LONGEST_MS) : undefined;
}

/** `92 % of its five hour window`. */
export function limitUseText({ window, share }: LimitUse): string {
  return `${Math.floor(share * 100)} % of its ${window} window`;
}

/** Numbers of an agent's program are doubtful. */
function isShare(share: number): boolean {
  return Number.isFinite(share) && share >= 0 && share <= 10;
}
