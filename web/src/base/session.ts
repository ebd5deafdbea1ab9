// Who looks: the token of this browser's session. It is kept for this tab, and shared with other tabs of the same daemon that ask for it; it
// never stands in a URL. A login code comes in the fragment, which no server sees, and is gone from the address bar before anything else.

const KEY = "passrail.session";
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("passrail.session") : undefined;
const listeners = new Set<() => void>();
let token: string | null = sessionStorage.getItem(KEY);

channel?.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (data === "who?" && token !== null) channel.postMessage({ token });
  else if (data === "out") set(null);
  else if (token === null && isGiven(data)) set(data.token);
});

export function currentToken(): string | null {
  return token;
}

export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export type LoginResult = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Before the first page: a code in the address, else another tab's token, else nobody. */
export async function openSession(): Promise<LoginResult> {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code !== null) {
    history.replaceState(history.state, "", location.pathname + location.search);
    return login(code);
  }
  if (token === null) await askOthers();
  return token === null ? { ok: false, why: "" } : { ok: true };
}

export async function login(code: string): Promise<LoginResult> {
  try {
    const response = await fetch("/api/sessions", {
      method: "POST",
      headers: { authorization: `Bearer ${code.trim()}`, "content-type": "application/json" },
      body: "{}",
    });
    const answer = (await response.json()) as { token?: string; detail?: string };
    if (!response.ok || answer.token === undefined) return { ok: false, why: answer.detail ?? "The code was refused." };
    set(answer.token);
    return { ok: true };
  } catch {
    return { ok: false, why: "The daemon does not answer." };
  }
}

/** The daemon no longer knows us, or we go. */
export function endSession(tellOthers: boolean): void {
  set(null);
  if (tellOthers) channel?.postMessage("out");
}

function set(next: string | null): void {
  token = next;
  if (next === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, next);
  for (const listener of listeners) listener();
}

function isGiven(data: unknown): data is { readonly token: string } {
  return typeof data === "object" && data !== null && "token" in data && typeof data.token === "string";
}

/** Other tabs answer at once or not at all. */
function askOthers(): Promise<void> {
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
