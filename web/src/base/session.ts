// The token of this browser's session. This tab keeps it and shares it with other tabs of the same daemon that ask; it never appears in a
// URL. The key of a paired device outlives the tab.

const KEY = "passrail.session";
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("passrail.session") : undefined;
const listeners = new Set<() => void>();
let token: string | null = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);

channel?.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (data === "who?" && token !== null) channel.postMessage({ token });
  else if (data === "out") setToken(null);
  else if (token === null && isGiven(data)) setToken(data.token);
});

export function currentToken(): string | null {
  return token;
}

export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** After a logout, or when the daemon refuses the token. */
export function endSession(tellOthers: boolean): void {
  setToken(null);
  if (tellOthers) channel?.postMessage("out");
}

export function setToken(next: string | null, lasts = false): void {
  token = next;
  if (next === null) for (const kept of [sessionStorage, localStorage]) kept.removeItem(KEY);
  else (lasts ? localStorage : sessionStorage).setItem(KEY, next);
  for (const listener of listeners) listener();
}

function isGiven(data: unknown): data is { readonly token: string } {
  return typeof data === "object" && data !== null && "token" in data && typeof data.token === "string";
}

/** Other tabs answer at once or not at all. */
export function askOtherTabs(): Promise<void> {
  if (channel === undefined) return Promise.resolve();
  channel.postMessage("who?");
  return new Promise((resolve) => {
    const done = (): void => {
      off();
      clearTimeout(timer);
      resolve();
    };
    const off = onSession(done);
    const timer = setTimeout(done, 250);
  });
}
