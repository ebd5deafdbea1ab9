// What is set and by whom, without anything that is secret.

import { expect, test } from "vitest";
import { readSettings } from "../../../src/settings/settings.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { serve } from "./served.ts";

const KEY = `sk-ant-api03-${"k9Xw".repeat(22)}-abcdefAA`;

test("every setting is shown with where it came from, and no secret of any of them", async () => {
  const served = await serve();
  const config = readSettings({
    environment: { PASSRAIL_RUNNER: "codex" },
    project: { slots: 5, budgets: { run: { usd: 1 } }, agents: { builder: { model: "opus", limit: 2 } } },
    user: {
      runners: { claude: { command: ["claude", "--key", KEY], env: { MY_NAME_FOR_IT: "hunter2-is-long-enough" } } },
      agents: { reviewer: { command: ["review", "--password=hunter2-is-long-enough"] } },
      notify: { command: ["tell", KEY] },
    },
    flags: { workspace: "in-place" },
  });
  if (!config.ok) throw new Error(config.error.message);
  served.app = createApp({ ...served.deps, config: config.value }, { port: 4321 });
  const { body } = await served.call("GET", "/api/settings");
  const shown = Object.fromEntries(
    (body["settings"] as { name: string; value: unknown; from: string }[]).map(({ name, ...rest }) => [name, rest]),
  );
  expect(shown).toMatchObject({
    slots: { value: 5, from: "project" },
    workspace: { value: "in-place", from: "flag" },
    runner: { value: "codex", from: "environment" },
    verdict_repair: { value: true, from: "default" },
    model: { value: "the program's own", from: "default" },
    budgets: { value: { run: { usd: 1 } }, from: "project" },
    agents: { value: { builder: { model: "opus" } }, from: "project and user" },
    agent_limits: { value: { builder: 2 } },
    "notify.command": { value: "tell", from: "user" },
    "runners.claude": { value: { env: ["MY_NAME_FOR_IT"] }, from: "user" },
  });
  const text = JSON.stringify(body);
  for (const secret of [KEY, "hunter2"]) expect(text).not.toContain(secret);
  expect(text).toContain("[REDACTED:");
  await served.close();
});
