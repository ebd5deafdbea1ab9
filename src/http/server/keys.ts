// The holders of tokens. The operator's token is in a file that only the operator can read; of all other tokens only hashes are stored. The
// file of keys is read again when it was replaced, so that a key revoked beside the daemon is refused at once.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { KEY_KINDS } from "../contract/schemas/key.ts";
import { LABEL_PATTERN } from "../../core/worker/wire.ts";
import { TOKEN_PREFIX } from "../contract/scopes.ts";
import { optional } from "../../core/optional.ts";
import type { Actor } from "../../core/run/event.ts";
import { createLogins, type Grant, hashOf, newToken, type PairedDevice } from "./logins.ts";
import type { Principal } from "./principal.ts";
import { changePrivate, createPrivate, readPrivate } from "./token-file.ts";

export type KeyKind = (typeof KEY_KINDS)[number];
export const MAX_KEYS = 1000;

const keySchema = z.strictObject({
  id: z.string().regex(/^k[0-9a-f]{8}$/),
  /** For people; for a webhook, the name of its source. */
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/),
  kind: z.enum(KEY_KINDS),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  note: z.string().max(200).default(""),
  createdAt: z.string(),
  /** The agent that a key of the kind agent speaks for, and the only story it is good for. */
  agent: z.string().min(1).max(100).optional(),
  story: z.string().min(1).max(200).optional(),
  /** The only labels that a worker with this key may have. */
  labels: z.array(z.string().regex(LABEL_PATTERN)).min(1).max(32).optional(),
  expiresAt: z.iso.datetime().optional(),
  /** Made by a device that was paired with a code; logging out there revokes it. */
  device: z.literal(true).optional(),
});
const fileSchema = z.strictObject({ version: z.literal(1), keys: z.array(keySchema).max(MAX_KEYS) });

export type StoredKey = z.infer<typeof keySchema>;
export type KeyInfo = Omit<StoredKey, "hash">;
export type KeyLimits = Pick<StoredKey, "agent" | "story" | "labels" | "expiresAt" | "device">;
/** `lasts`: a key of a device, which outlives its tab. */
export type Login = Grant & { readonly lasts: boolean };

export type Keys = {
  readonly operatorTokenFile: string;
  find(token: string): Principal | undefined;
  findLogin(code: string): Principal | "too many" | undefined;
  /** Returns the token, which is never shown again. */
  create(
    wish: { readonly name: string; readonly kind: KeyKind; readonly note?: string } & KeyLimits,
  ): Promise<KeyInfo & { readonly token: string }>;
  list(): readonly KeyInfo[];
  /** False if there is no such key. */
  revoke(id: string): Promise<boolean>;
  /** False if it has already ended. */
  endSession(id: string): Promise<boolean>;
  /** With a device: its code becomes a key. */
  newLoginCode(device?: PairedDevice): Grant;
  /** Uses up an open code and returns the session, or the key of the device. */
  exchange(login: Principal & { kind: "login" }): Promise<Login | undefined>;
};

export type KeysOptions = {
  /** The person behind the operator's own token. */
  readonly person: Actor;
  readonly now: () => string;
};

/** `folder`: the folder of the store; only its owner can read it. */
export async function createKeys(folder: string, { person, now }: KeysOptions): Promise<Keys> {
  const tokenFile = join(folder, "operator.token");
  const keysFile = join(folder, "keys.json");
  const operator = hashOf(await operatorToken(tokenFile));
  const sessionsFile = join(folder, "sessions.json");
  const logins = createLogins(() => Date.parse(now()), {
    load: () => parseSessions(readPrivate(sessionsFile)),
    save: (all) => changePrivate(sessionsFile, () => `${JSON.stringify([...all])}\n`).catch(() => undefined),
  });
  let known = parseKeys(readPrivate(keysFile));
  let stamp = stampOf(keysFile);

  function current(): readonly StoredKey[] {
    const fresh = stampOf(keysFile);
    if (fresh !== stamp) [known, stamp] = [parseKeys(readPrivate(keysFile)), fresh];
    return known;
  }

  const create: Keys["create"] = async ({ name, kind, note = "", agent, story, labels, expiresAt, device }) => {
    const token = newToken(TOKEN_PREFIX[kind]);
    const limits = optional({ agent, story, labels, expiresAt, device });
    const info = { id: `k${randomBytes(4).toString("hex")}`, name, kind, note, createdAt: now(), ...limits };
    await changePrivate(keysFile, (text) =>
      writeKeys([...parseKeys(text), keySchema.parse({ ...info, hash: hashOf(token) })]),
    );
    return { ...info, token };
  };

  return {
    operatorTokenFile: tokenFile,
    find(token) {
      const hash = hashOf(token);
      if (isSame(hash, operator)) return { kind: "operator", id: "operator", actor: person };
      if (logins.isSession(token)) return { kind: "operator", id: "operator", actor: person, session: hash };
      const found = current().find((key) => isSame(key.hash, hash));
      return found === undefined || hasExpired(found, now()) ? undefined : principalOf(found);
    },
    findLogin(code) {
      const found = logins.findCode(code);
      if (found === "too many") return found;
      return found ? { kind: "login", id: hashOf(code) } : undefined;
    },
    create,
    list: () => current().map(({ hash: _hash, ...info }) => info),
    async revoke(id) {
      let isThere = false;
      await changePrivate(keysFile, (text) => {
        const keys = parseKeys(text);
        isThere = keys.some((key) => key.id === id);
        return writeKeys(keys.filter((key) => key.id !== id));
      });
      return isThere;
    },
    endSession: (id) => logins.endSession(id),
    newLoginCode: (device) => logins.newCode(device),
    async exchange({ id }) {
      const device = logins.takeDevice(id);
      if (device !== undefined) {
        const { token } = await create({ ...device, device: true });
        return { token, expiresAt: device.expiresAt, lasts: true };
      }
      const session = logins.exchange(id);
      return session === undefined ? undefined : { ...session, lasts: false };
    },
  };
}

/** Two processes that start at once agree on the token of the first. */
async function operatorToken(path: string): Promise<string> {
  const token = newToken(TOKEN_PREFIX.operator);
  if (await createPrivate(path, `${token}\n`)) return token;
  const text = readPrivate(path)?.trim() ?? "";
  if (!/^pr_op_[A-Za-z0-9_-]{43}$/.test(text)) throw new Error(`${path} holds no token; delete it and start again`);
  return text;
}

/** An unreadable time counts as past. */
function hasExpired({ expiresAt }: StoredKey, now: string): boolean {
  return expiresAt !== undefined && !(Date.parse(expiresAt) > Date.parse(now));
}

/** A key of an agent without its agent grants nothing. */
function principalOf({ id, kind, name, agent, story, labels, device }: StoredKey): Principal | undefined {
  switch (kind) {
    case "agent":
      return agent === undefined ? undefined : { kind, id, agent, ...optional({ story }) };
    case "operator":
      return { kind, id, actor: `human:${name}`, ...optional({ device }) };
    case "viewer":
      return { kind, id };
    case "worker":
      return { kind, id, name, labels: labels ?? null };
    case "webhook":
      return { kind, id, source: name };
  }
}

const sessionsSchema = z.array(z.tuple([z.string().regex(/^[0-9a-f]{64}$/), z.number()])).max(100);

/** An unreadable file grants no access. */
function parseSessions(text: string | undefined): readonly (readonly [string, number])[] {
  try {
    return sessionsSchema.parse(JSON.parse(text ?? "[]"));
  } catch {
    return [];
  }
}

export function parseKey(value: unknown): StoredKey {
  return keySchema.parse(value);
}

export function parseKeys(text: string | undefined): readonly StoredKey[] {
  return text === undefined ? [] : fileSchema.parse(JSON.parse(text)).keys;
}

export function writeKeys(keys: readonly StoredKey[]): string {
  // Throws instead of writing keys that could not be read back.
  return `${JSON.stringify(fileSchema.parse({ version: 1, keys }), null, 2)}\n`;
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"));
}

/** One system call per request, cheap enough for every check. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "absent" : `${found.ino}:${found.mtimeMs}:${found.size}`;
}
