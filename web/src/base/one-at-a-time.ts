// Something that is asked for again and again, done at once and then never twice at the same time: what comes while it is being done is done
// together afterwards. A list that takes long to load is so never cut off by the next event, however fast events come.

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
