// Loads the code of all pages while the browser is idle, so that a click works although the daemon is restarting or has been upgraded: the
// new one no longer has the files of this page. A browser that saves data loads a page's code when it is opened.

const AFTER_MS = 4000;
const AT_ONCE = 4;
const LIST = "/parts.json";

type Connection = { readonly saveData?: boolean };

export function prefetchWhenIdle(): void {
  whenIdle(() => void prefetch());
}

/** When the page has been there for a while and the browser has nothing else to do; never in a browser that saves data. */
export function whenIdle(act: () => void): void {
  const { connection } = navigator as { readonly connection?: Connection };
  if (connection?.saveData === true) return;
  const begin = (): void => void setTimeout(() => idle(act), AFTER_MS);
  if (document.readyState === "complete") begin();
  else addEventListener("load", begin, { once: true });
}

async function prefetch(): Promise<void> {
  const answer = await fetch(LIST).catch(() => undefined);
  if (answer?.ok !== true) return;
  const parts = [...((await answer.json()) as readonly string[])];
  // A few at a time: a page that a person clicks on comes first.
  while (parts.length > 0) {
    await new Promise<void>((done) => idle(done));
    await Promise.all(parts.splice(0, AT_ONCE).map((part) => loaded(`/${part}`)));
  }
  document.documentElement.dataset["parts"] = "loaded";
}

function loaded(address: string): Promise<void> {
  return new Promise<void>((done) => {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = address;
    link.addEventListener("load", () => done());
    link.addEventListener("error", () => done());
    document.head.append(link);
  });
}

/** Safari has no idle callbacks. */
function idle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act, { timeout: 2000 });
  else setTimeout(act, 50);
}
