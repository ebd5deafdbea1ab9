// Waits for a condition instead of a fixed time.

/** A look often costs more than the time between two of them: at HTTP, at the table of processes, in a database. */
const SELDOM_MS = 50;

export async function until<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  deadlineMs = 60_000,
  everyMs = 10,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > deadlineMs) throw new Error(`this did not happen in ${deadlineMs} ms: ${what}`);
    // Whoever has waited long can wait a little longer: a look comes late by a tenth of the time at most.
    const pauseMs = Math.min(waitedMs / 10, SELDOM_MS);
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, pauseMs)));
  }
}
