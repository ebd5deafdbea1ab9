// `doctor` on a newcomer's machine: exit code and fixes follow what is there.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FIXED, type Newcomer, openNewcomer } from "./first-hour.ts";

let own: Newcomer;
afterEach(() => own.remove());

type Line = { readonly name: string; readonly state: string; readonly found: string; readonly fix: string };

async function examined(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { code, out } = await own.passrail(["doctor", "--json", ...args], { env: { ...own.env, ...env } });
  const { ok, checks, readiness } = JSON.parse(out) as {
    ok: boolean;
    checks: readonly Line[];
    readiness: { score: number; items: readonly { name: string; points: number; fix: string }[] } | null;
  };
  return { code, ok, readiness, of: (name: string) => checks.find((each) => each.name === name) };
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
  const well = await examined({ ANTHROPIC_API_KEY: "sk-ant-of-this-test" });
  expect(well).toMatchObject({ code: 0, ok: true });
  expect(well.of("agent claude")).toMatchObject({ state: "ok" });
  expect(well.of("without a sandbox")?.found).toContain("processes held by");
  expect(well.readiness?.score).toBe(65);
  expect(well.of("repository")).toMatchObject({ state: "ok" });
  expect(well.of("agent codex")).toBeUndefined();
  writeFileSync(join(own.project, "passrail.yaml"), "slots: many\nrunner: codex\n");
  const broken = await examined({ ANTHROPIC_API_KEY: "sk-ant-of-this-test" });
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.of("settings")).toMatchObject({ state: "fail", found: expect.stringContaining("slots") });
});
