// `doctor` on a newcomer's machine: exit code and fixes follow what is there.

import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FIXED, type Newcomer, openNewcomer } from "./first-hour.ts";

let own: Newcomer;
afterEach(() => own.remove());

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9";

type Line = { readonly name: string; readonly state: string; readonly found: string; readonly fix: string };

async function examined(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { code, out } = await own.passrail(["doctor", "--json", ...args], { env: { ...own.env, ...env } });
  const { ok, checks, readiness } = JSON.parse(out) as {
    ok: boolean;
    checks: readonly Line[];
    readiness: { score: number; items: readonly { name: string; points: number; fix: string }[] } | null;
  };
  return {
    code,
    ok,
    readiness,
    mended: (JSON.parse(out) as { mended?: readonly object[] }).mended,
    of: (name: string) => checks.find((each) => each.name === name),
  };
}

test("without an agent it fails and names the commands that fix it; with one that is logged in it is well", async () => {
  own = openNewcomer();
  const without = await examined({ PASSRAIL_ENCLOSURE: "scope" });
  expect(without).toMatchObject({ code: 1, ok: false });
  expect(without.of("agent claude")).toMatchObject({ state: "fail", fix: "npm install -g @anthropic-ai/claude-code" });
  expect(without.of("sandbox bubblewrap")).toMatchObject({ state: "warn", fix: expect.stringContaining("bubblewrap") });
  expect(without.of("without a sandbox")).toMatchObject({
    state: "fail",
    found: expect.stringContaining("systemd makes no scope"),
    fix: expect.stringContaining("enclosure: auto"),
  });
  // A README and nothing else: no checks, no tests, no word for agents; nothing that would need a lock file.
  expect(without.readiness?.score).toBe(25);
  expect(without.readiness?.items[0]).toMatchObject({
    name: "checks",
    points: 0,
    fix: expect.stringContaining("init"),
  });
  own.install(FIXED);
  writeFileSync(join(own.project, "AGENTS.md"), "Run npm test.\n");
  writeFileSync(join(own.project, "slug.test.js"), "");
  own.git("add", "-A");
  const out = await examined({});
  expect(out.of("agent claude")).toMatchObject({ state: "warn", found: expect.stringContaining("not logged in") });
  const well = await examined({ ANTHROPIC_API_KEY: "sk-ant-of-this-test", ANTHROPIC_BASE_URL: NOWHERE });
  expect(well).toMatchObject({ code: 0, ok: true });
  expect(well.of("agent claude")).toMatchObject({ state: "ok" });
  expect(well.of("network 127.0.0.1:9")).toMatchObject({ state: "warn", fix: expect.stringContaining("HTTPS_PROXY") });
  expect(well.of("clock")).toBeUndefined();
  expect(well.of("without a sandbox")?.found).toContain("processes held by");
  expect(well.readiness?.score).toBe(65);
  expect(well.of("repository")).toMatchObject({ state: "ok" });
  expect(well.of("agent codex")).toBeUndefined();
  writeFileSync(join(own.project, "passrail.yaml"), "slots: many\nrunner: codex\n");
  const broken = await examined({ ANTHROPIC_API_KEY: "sk-ant-of-this-test", ANTHROPIC_BASE_URL: NOWHERE });
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.of("settings")).toMatchObject({ state: "fail", found: expect.stringContaining("slots") });
});

test("the vendor of a ready agent is asked without a key, and its clock is compared with ours", async () => {
  own = openNewcomer();
  own.install(FIXED);
  const seen: object[] = [];
  let apartMs = 0;
  const vendor = createServer((request, response) => {
    seen.push({ method: request.method, key: request.headers["x-api-key"], login: request.headers.authorization });
    response.setHeader("date", new Date(Date.now() - apartMs).toUTCString());
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(vendor, "listening");
  try {
    const at = `127.0.0.1:${(vendor.address() as AddressInfo).port}`;
    const env = { ANTHROPIC_API_KEY: "sk-ant-of-this-test", ANTHROPIC_BASE_URL: `http://${at}` };
    const well = await examined(env);
    expect(well.of(`network ${at}`)).toMatchObject({ state: "ok", found: "answers" });
    expect(well.of("clock")).toMatchObject({ state: "ok" });
    expect(seen).toEqual([{ method: "HEAD" }]);
    apartMs = 10 * 60_000;
    const late = await examined(env);
    expect(late.of("clock")).toMatchObject({ state: "warn", found: expect.stringMatching(/^1[01] minutes ahead/u) });
    expect(late.code).toBe(0);
  } finally {
    vendor.close();
  }
});

test("--fix closes the state folder and the user's settings to others, says so, and leaves the rest to the person", async () => {
  own = openNewcomer();
  const config = join(own.dir, "config");
  mkdirSync(join(config, "passrail"), { recursive: true });
  writeFileSync(join(config, "passrail/passrail.yaml"), "slots: 2\n");
  chmodSync(join(config, "passrail/passrail.yaml"), 0o666);
  mkdirSync(own.home, { recursive: true });
  chmodSync(own.home, 0o755);
  const env = { XDG_CONFIG_HOME: config };
  const before = await examined(env);
  expect(before.of("state folder")).toMatchObject({ state: "warn" });
  expect(before.of("permissions")).toMatchObject({ state: "warn", fix: expect.stringContaining("chmod go-w") });
  const mended = await examined(env, "--fix");
  expect(mended.mended).toHaveLength(2);
  expect([mended.of("state folder")?.state, mended.of("permissions")?.state]).toEqual(["ok", "ok"]);
  const modes = [own.home, join(config, "passrail/passrail.yaml")].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o644]);
  // No agent is installed: that stays a command for the person.
  expect(mended.code).toBe(1);
  expect((await examined(env, "--fix")).mended).toEqual([]);
});
