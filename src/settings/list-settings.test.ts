import { expect, test } from "vitest";
import { z } from "zod";
import { listSettings } from "./list-settings.ts";
import { fileSchema, readSettings, type SettingsSources } from "./settings.ts";

function list(given: Partial<SettingsSources> = {}) {
  const read = readSettings({ environment: {}, flags: {}, user: undefined, project: undefined, ...given });
  if (!read.ok) throw new Error(read.error.message);
  return listSettings(read.value);
}

/** Every key of passrail.yaml, and the keys inside its groups. */
function keysOfSchema(): readonly string[] {
  return Object.entries(fileSchema.shape).flatMap(([key, optional]) => {
    const inner: unknown = optional.unwrap();
    return inner instanceof z.ZodObject ? Object.keys(inner.shape).map((sub) => `${key}.${sub}`) : [key];
  });
}

test("every key of the settings schema is in the list", () => {
  // Programs of runners are listed where a file names one.
  const names = list({ user: { runners: { claude: { pass: ["A"] } } } }).map(({ name }) => name);
  const missing = keysOfSchema().filter((key) => {
    const [group = ""] = key.split(".");
    return !names.some((name) => name === key || name === group || (!key.includes(".") && name.startsWith(`${key}.`)));
  });
  expect(missing).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test("limits and times are listed with their defaults, and with the file that changes one", () => {
  const defaults = Object.fromEntries(list().map(({ name, value, from }) => [name, [value, from]]));
  expect(defaults).toMatchObject({
    slots: [3, "default"],
    "tickets.idle_sleep": ["30s", "default"],
    "merge.check_timeout": ["15m", "default"],
    "merge.poll": ["1m", "default"],
    "heartbeat.tick": ["1m", "default"],
    "heartbeat.stalled_after": ["30m", "default"],
    "workspaces.max_file": ["256mb", "default"],
    "workspaces.max_work": ["2gb", "default"],
    "limits.*": [{ total: expect.stringContaining("30m") }, "default"],
    budgets: [{ run: { usd: 25, tokens: 50_000_000 } }, "default"],
  });
  const changed = list({
    project: { tickets: { idle_sleep: "90s" }, limits: { implement: { total: "2h" } } },
    user: {
      tickets: { idle_sleep: "5s", folder: "work" },
      limits: { implement: { idle: "500ms" }, "*": { total: "1h" } },
    },
    environment: { MAX_WORKERS: "5" },
  });
  expect(Object.fromEntries(changed.map(({ name, value, from }) => [name, [value, from]]))).toMatchObject({
    slots: [5, "environment"],
    "tickets.idle_sleep": ["90s", "project"],
    "tickets.folder": ["work", "user"],
    "limits.implement": [{ total: "2h", idle: "500ms" }, "project"],
    "limits.*": [{ total: "1h" }, "user"],
  });
});
