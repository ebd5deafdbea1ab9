// "30m" -> milliseconds, and back for people.

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The text has passed the schema's pattern; anything else is a bug in the caller. */
export function durationMs(text: string): number {
  const unit = text.endsWith("ms") ? "ms" : text.slice(-1);
  const perUnit = UNIT_MS[unit];
  const amount = Number(text.slice(0, -unit.length));
  if (perUnit === undefined || !Number.isSafeInteger(amount)) throw new Error(`not a duration: ${text}`);
  return amount * perUnit;
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60 ? `${seconds % 60}s` : ""}`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
