// Logs this browser in with a one-time code. The code arrives in the fragment of the address, which no server sees; it leaves the address
// bar before anything else happens.

import { callWith } from "./caller.ts";
import { askOtherTabs, currentToken, setToken } from "./session.ts";

export type LoginResult = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Before the first page: uses a code in the address, else the token of another tab. */
export async function openSession(): Promise<LoginResult> {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code !== null) {
    history.replaceState(history.state, "", location.pathname + location.search);
    return login(code);
  }
  if (currentToken() === null) await askOtherTabs();
  return currentToken() === null ? { ok: false, why: "" } : { ok: true };
}

export async function login(code: string): Promise<LoginResult> {
  const made = await callWith(() => code.trim())("createSession", { body: {} });
  if (made.ok) {
    setToken(made.value.token, made.value.lasts);
    return { ok: true };
  }
  const isAway = made.error.code === "daemon_unreachable";
  return { ok: false, why: isAway ? "The daemon does not answer." : made.error.detail };
}
