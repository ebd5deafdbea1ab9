// Runs work on request, never twice at the same time: requests that arrive while it runs lead to one more run afterwards. So a list that
// loads slowly is never cut off by the next event, however fast events arrive.

export function oneAtATime(work: () => Promise<unknown>, rest: () => Promise<unknown>): () => void {
  let isBusy = false;
  let isDue = false;
  return () => {
    isDue = true;
    if (!isBusy) void goOn();
  };

  async function goOn(): Promise<void> {
    isBusy = true;
    while (isDue) {
      isDue = false;
      await Promise.allSettled([work(), rest()]);
    }
    isBusy = false;
  }
}
