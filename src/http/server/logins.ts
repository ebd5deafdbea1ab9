// Logs a browser in without a token in a URL: a code that is valid once and for one minute becomes a session. Only a hash of a session is
// stored, with its end, so that open pages keep working after a restart. Codes are in memory only. Guessing is hopeless, and attempts are
// limited anyway. A code for a device is valid a little longer and becomes a key, which lasts and can be revoked.

import { createHash, randomBytes } from "node:crypto";
import { TOKEN_PREFIX } from "../contract/scopes.ts";

const CODE_MS = 60_000;
/** A person has to take the device, and point its camera. */
const DEVICE_CODE_MS = 5 * 60_000;
const SESSION_MS = 12 * 3600_000;
const WINDOW_MS = 3600_000;
const TRIES = 60;
const CODES = 20;
const SESSIONS = 100;

/** The key that the code of a device becomes. */
export type PairedDevice = { readonly name: string; readonly kind: "operator" | "viewer"; readonly expiresAt: string };

export type Grant = { readonly token: string; readonly expiresAt: string };

/** Hashes of sessions and the end of each, as stored between two starts. */
export type KeptSessions = {
  readonly load: () => Iterable<readonly [string, number]>;
  save(all: ReadonlyMap<string, number>): Promise<void>;
};

/** `now`: milliseconds since 1970. */
export function createLogins(now: () => number, kept: KeptSessions) {
  const codes = new Map<string, number>();
  const devices = new Map<string, PairedDevice>();
  const sessions = new Map<string, number>(kept.load());
  let tries: number[] = [];

  return {
    /** Needs a token, so it does not count as a try; but the number of open codes is limited. */
    newCode(device?: PairedDevice): Grant {
      drop(codes);
      makeRoom(codes, CODES);
      for (const hash of devices.keys()) if (!codes.has(hash)) devices.delete(hash);
      const code = give(codes, TOKEN_PREFIX.login, device === undefined ? CODE_MS : DEVICE_CODE_MS);
      if (device !== undefined) devices.set(hashOf(code.token), device);
      return code;
    },
    /** Uses the code up, if it is one for a device. */
    takeDevice(codeId: string): PairedDevice | undefined {
      drop(codes);
      const device = codes.has(codeId) ? devices.get(codeId) : undefined;
      if (device !== undefined) codes.delete(codeId);
      devices.delete(codeId);
      return device;
    },
    /** Whether this code is open. A wrong code counts as a try. */
    findCode(code: string): boolean | "too many" {
      drop(codes);
      if (codes.has(hashOf(code))) return true;
      return tryOnce() ? false : "too many";
    },
    /** Uses the code up. */
    exchange(codeId: string): Grant | undefined {
      drop(codes);
      drop(sessions);
      if (!codes.delete(codeId)) return undefined;
      makeRoom(sessions, SESSIONS);
      const session = give(sessions, TOKEN_PREFIX.session, SESSION_MS);
      // Not awaited: a crash right after loses one login.
      void kept.save(sessions);
      return session;
    },
    /** False if it has already ended. */
    async endSession(sessionId: string): Promise<boolean> {
      const wasOpen = sessions.delete(sessionId);
      // Awaited: the caller relies on a confirmed logout.
      if (wasOpen) await kept.save(sessions);
      return wasOpen;
    },
    isSession(token: string): boolean {
      const until = sessions.get(hashOf(token));
      return until !== undefined && until > now();
    },
  };

  function give(kept: Map<string, number>, prefix: string, forMs: number): Grant {
    const token = newToken(prefix);
    const until = now() + forMs;
    kept.set(hashOf(token), until);
    return { token, expiresAt: new Date(until).toISOString() };
  }

  /** Removes the oldest. */
  function makeRoom(kept: Map<string, number>, most: number): void {
    const [oldest] = kept.keys();
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest);
  }

  function drop(kept: Map<string, number>): void {
    for (const [hash, until] of kept) if (until <= now()) kept.delete(hash);
  }

  function tryOnce(): boolean {
    tries = tries.filter((at) => at > now() - WINDOW_MS);
    if (tries.length >= TRIES) return false;
    tries.push(now());
    return true;
  }
}

/** 256 bit. */
export function newToken(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

/** A random token needs no salt and no slow hash: it cannot be guessed. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
