// Settings and budgets over the API: a diff first, a write only for the file that was looked at, and an effect without a restart.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ServerDeps } from "../../../src/http/server/deps.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { serve, type Served } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

const look = async () => ROUTES.settings.answer.schema.parse((await served.call("GET", "/api/settings")).body);
const edit = (body: object) => served.call("POST", "/api/settings", { body });
const fileOf = async (scope: "user" | "project") => {
  const found = (await look()).files.find((file) => file.scope === scope);
  if (found === undefined) throw new Error("no file");
  return found;
};
const dayLimit = async () =>
  ROUTES.showNow.answer.schema.parse((await served.call("GET", "/api/now")).body).today.limit.usd;

test("a change is shown first, written for the file that was looked at, keeps comments, and counts at once", async () => {
  const { path } = await fileOf("user");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "# mine\nbudgets:\n  day: { usd: 100 } # a lot\n");
  const seen = await fileOf("user");
  const change = { scope: "user", name: "budgets.day.usd", value: 40 };
  const shown = await edit(change);
  expect(shown).toMatchObject({ status: 200, body: { written: false, version: seen.version, path } });
  expect(shown.body["diff"]).toContain("+  day: { usd: 40 } # a lot");
  expect(readFileSync(path, "utf8")).toContain("usd: 100");

  expect(await edit({ ...change, version: "0".repeat(64) })).toMatchObject({
    status: 409,
    body: { code: "settings_changed" },
  });
  expect(await edit({ ...change, version: seen.version })).toMatchObject({ status: 200, body: { written: true } });
  expect(readFileSync(path, "utf8")).toBe("# mine\nbudgets:\n  day: { usd: 40 } # a lot\n");
  expect(await dayLimit()).toBe(40);
  expect((await look()).editable.find(({ name }) => name === "budgets.day.usd")).toMatchObject({
    user: 40,
    project: null,
    effect: "now",
  });
  const audit = await served.call("GET", "/api/audit");
  expect(JSON.stringify(audit.body)).toContain("settings: budgets.day.usd of the user's file is 40");

  const { version } = await fileOf("user");
  expect(await edit({ ...change, value: null, version })).toMatchObject({ body: { written: true } });
  expect(await dayLimit()).not.toBe(40);
});

test("values that a start would refuse, settings that name programs, and a broken file are refused, and nothing is written", async () => {
  const { path, version } = await fileOf("user");
  const refused = async (body: object) => (await edit({ scope: "user", version, ...body })).body["code"];
  expect(await refused({ name: "slots", value: 1000 })).toBe("settings_refused");
  expect(await refused({ name: "budgets.day.usd", value: -1 })).toBe("settings_refused");
  expect(await refused({ name: "hooks", value: "rm" })).toBe("settings_refused");
  expect(await refused({ name: "agents.*.command", value: "sh" })).toBe("settings_refused");
  expect(await refused({ name: "__proto__.x", value: "1" })).toBe("settings_refused");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "budgets: [\n");
  expect(await edit({ scope: "user", name: "slots", value: 2 })).toMatchObject({ status: 422 });
  expect(readFileSync(path, "utf8")).toBe("budgets: [\n");
});

test("the project's file is approved with the change if it was approved before, and waits for approval if other changes are in it", async () => {
  const path = join(served.bench.project, "passrail.yaml");
  const trust = served.deps.trust as NonNullable<ServerDeps["trust"]>;
  const state = () => {
    const found = trust.look();
    return found.ok ? found.value.state : found.error.code;
  };
  expect(state()).toBe("approved");
  const { version } = await fileOf("project");
  const change = { scope: "project", name: "budgets.run.usd", value: 7 };
  expect(await edit({ ...change, version })).toMatchObject({ body: { written: true, approved: true } });
  expect(state()).toBe("approved");
  writeFileSync(path, `${readFileSync(path, "utf8")}\n# somebody else\n`);
  const again = { ...change, value: 9, version: (await fileOf("project")).version };
  expect(await edit(again)).toMatchObject({ body: { written: true, approved: false } });
  expect(state()).toBe("changed");
});

test("the budget of one run is raised and lowered; what waits for it tries again, and an ended run has none", async () => {
  const { id } = await served.bench.run("feature", {});
  const shown = async () =>
    ROUTES.showRun.answer.schema.parse((await served.call("GET", `/api/runs/${id}`)).body).limit;
  const before = await shown();
  expect(before.usd).toBeGreaterThan(0);
  const set = (body: object) => served.call("POST", `/api/runs/${id}/budget`, { body });
  expect((await set({ usd: 3 })).body).toEqual({ limit: { ...before, usd: 3 }, changed: true });
  expect((await set({ usd: 3 })).body).toMatchObject({ changed: false });
  expect((await set({ usd: 60.5, tokens: 1000 })).body).toEqual({ limit: { usd: 60.5, tokens: 1000 }, changed: true });
  expect(await shown()).toEqual({ usd: 60.5, tokens: 1000 });
  expect(await set({ usd: 0 })).toMatchObject({ status: 422 });
  expect((await served.bench.events(id)).filter(({ type }) => type === "budget.raised")).toHaveLength(2);
  await served.call("POST", `/api/runs/${id}/cancel`, { body: {} });
  expect(await set({ usd: 5 })).toMatchObject({ status: 409, body: { code: "run_ended" } });
});
