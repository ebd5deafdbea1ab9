// Waits for a condition instead of a fixed time.

export async function until<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  deadlineMs = 20_000,
  everyMs = 10,
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`this did not happen in ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
