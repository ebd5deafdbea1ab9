// Tokens and where they lie: nobody else can read them, nobody's key is lost, what others could have written is not believed.

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeys } from "../../../src/http/server/keys.ts";
import { until } from "../../harness/until.ts";

let folder: string;
let clock = Date.parse("2026-01-01T00:00:00Z");
const open = () => createKeys(folder, { person: "human:me", now: () => new Date(clock).toISOString() });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "passrail-keys-"));
});
// A login is written down beside everything else, so the folder may just be getting a file.
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));

test("S04, S25: the operator's token is made once, with 256 bit, for its owner's eyes only", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, open));
  const token = readFileSync(join(folder, "operator.token"), "utf8").trim();
  expect(token).toMatch(/^pr_op_[A-Za-z0-9_-]{43}$/);
  for (const keys of all) expect(keys.find(token)).toEqual({ kind: "operator", id: "operator", actor: "human:me" });
  expect(statSync(join(folder, "operator.token")).mode & 0o777).toBe(0o600);
});

test("further keys are kept as hashes only, and say who acts", async () => {
  const keys = await open();
  const ops = await keys.create({ name: "ci", kind: "operator" });
  const hook = await keys.create({ name: "tracker", kind: "webhook" });
  const viewer = await keys.create({ name: "wall", kind: "viewer" });
  expect([ops.token, hook.token, viewer.token].map((token) => token.slice(0, 6))).toEqual([
    "pr_op_",
    "pr_wh_",
    "pr_vw_",
  ]);
  expect(keys.find(ops.token)).toEqual({ kind: "operator", id: ops.id, actor: "human:ci" });
  expect(keys.find(hook.token)).toEqual({ kind: "webhook", id: hook.id, source: "tracker" });
  const text = readFileSync(join(folder, "keys.json"), "utf8");
  for (const { token } of [ops, hook, viewer]) expect(text).not.toContain(token.slice(6));
  expect(statSync(join(folder, "keys.json")).mode & 0o777).toBe(0o600);
  expect(await keys.revoke(ops.id)).toBe(true);
  expect(await keys.revoke(ops.id)).toBe(false);
  expect(keys.find(ops.token)).toBeUndefined();
  await expect(keys.create({ name: "../x", kind: "viewer" })).rejects.toThrow("name");
  expect(readdirSync(folder).sort()).toEqual(["keys.json", "operator.token"]);
});

test("a worker's key is bound to its labels, and is refused when its time is over", async () => {
  const keys = await open();
  const expiresAt = new Date(clock + 60_000).toISOString();
  const made = await keys.create({ name: "box", kind: "worker", labels: ["gpu"], expiresAt });
  expect(keys.find(made.token)).toEqual({ kind: "worker", id: made.id, name: "box", labels: ["gpu"] });
  clock += 60_000;
  expect(keys.find(made.token)).toBeUndefined();
});

test("processes that make keys at once lose none, also beside what a dead one left", async () => {
  const makers = await Promise.all(Array.from({ length: 4 }, open));
  // Everybody finds the same dead lock. Whoever removes it late must not remove the lock of the next writer.
  for (let round = 1; round <= 25; round++) {
    writeFileSync(join(folder, "keys.json.lock"), "half");
    utimesSync(join(folder, "keys.json.lock"), round, round);
    await Promise.all(makers.map((keys, at) => keys.create({ name: `r${round}-${at}`, kind: "viewer" })));
    expect(makers[0]?.list()).toHaveLength(4 * round);
  }
  const made = await Promise.all(
    makers.flatMap((keys, maker) =>
      [1, 2, 3].map((count) => keys.create({ name: `k${maker}-${count}`, kind: "viewer" })),
    ),
  );
  const keys = await open();
  expect(keys.list()).toHaveLength(112);
  for (const { token } of made) for (const maker of makers) expect(maker.find(token)?.kind).toBe("viewer");
});

test("S13, S25: a token file that others can read, or that leads elsewhere, is refused", async () => {
  await open();
  const file = join(folder, "operator.token");
  chmodSync(file, 0o644);
  await expect(open()).rejects.toThrow("can be read by others");
  rmSync(file);
  writeFileSync(join(folder, "elsewhere"), "pr_op_x", { mode: 0o600 });
  symlinkSync(join(folder, "elsewhere"), file);
  await expect(open()).rejects.toThrow("plain file");
  rmSync(file);
  writeFileSync(file, "no token", { mode: 0o600 });
  await expect(open()).rejects.toThrow("holds no token");
});

test("a login code ends after a minute, its session after twelve hours", async () => {
  const keys = await open();
  const late = keys.newLoginCode();
  clock += 60_000;
  expect(keys.findLogin(late.token)).toBeUndefined();
  const code = keys.newLoginCode().token;
  const login = keys.findLogin(code);
  if (login === undefined || login === "too many" || login.kind !== "login") throw new Error("no login");
  const session = await keys.exchange(login);
  expect(await keys.exchange(login)).toBeUndefined();
  expect(keys.find(code)).toBeUndefined();
  expect(keys.find(session?.token ?? "")?.kind).toBe("operator");
  clock += 12 * 3600_000;
  expect(keys.find(session?.token ?? "")).toBeUndefined();
});

test("a session goes on after a restart, kept as a hash; one that was ended, or whose file is not ours, does not", async () => {
  const login = async () => {
    const keys = await open();
    const code = keys.findLogin(keys.newLoginCode().token);
    if (code === undefined || code === "too many" || code.kind !== "login") throw new Error("no login");
    return { keys, token: (await keys.exchange(code))?.token ?? "" };
  };
  const file = join(folder, "sessions.json");
  const saved = (hashes: number) =>
    until("it is kept", () => {
      const kept = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown[]) : [];
      return kept.length === hashes ? true : undefined;
    });
  const first = await login();
  await saved(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(first.token.slice(6));
  const again = await open();
  const known = again.find(first.token);
  expect(known?.kind).toBe("operator");
  if (known?.kind !== "operator" || known.session === undefined) throw new Error("no session");
  expect(await again.endSession(known.session)).toBe(true);
  expect((await open()).find(first.token)).toBeUndefined();
  const second = await login();
  await saved(1);
  writeFileSync(file, '[["not a hash", 9e15]]');
  expect((await open()).find(second.token)).toBeUndefined();
});
