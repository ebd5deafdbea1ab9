// The daemon itself: health, settings with their origin, login of a browser.

import { ROUTES } from "../../contract/routes.ts";
import type { Setting } from "../../../settings/settings.ts";
import type { Settings } from "../../../settings/settings.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { createRedaction } from "../../../core/secrets/redaction.ts";
import { err, ok } from "../../../core/result.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

export function mountSystem(mount: MountRoute, { store, keys, config, version, now }: ServerDeps): void {
  mount.json(ROUTES.health, async () => {
    const [lastSeq, runs, waiting] = await Promise.all([store.lastSeq(), store.countRuns(), store.inbox()]);
    return ok({ status: "ok" as const, version, now: now(), lastSeq, runs: { ...runs }, waiting: waiting.length });
  });

  mount.json(ROUTES.settings, async () => ok({ settings: settingsOf(config) }));

  mount.json(ROUTES.createLoginCode, async () => {
    const { token, expiresAt } = keys.newLoginCode();
    return ok({ code: token, expiresAt });
  });

  mount.json(ROUTES.createSession, async ({ principal }) => {
    const session = principal.kind === "login" ? keys.exchange(principal) : undefined;
    // Two requests with one code: the code was open for both, and the first uses it up.
    return session === undefined ? err({ code: "auth_invalid", detail: "The code was used already." }) : ok(session);
  });
}

type Shown = { readonly name: string; readonly value: Json; readonly from: string };

/** Values in a program's environment may be secret, so only the names are shown. Text that looks like a key is removed everywhere. */
function settingsOf(config: Settings): Shown[] {
  const { text } = createRedaction(
    Object.values(config.programs).flatMap(({ env }) => Object.entries(env).map(([name, value]) => ({ name, value }))),
  );
  const one = (name: string, { value, from }: Setting<Json>): Shown => ({
    name,
    value: withoutSecrets(value, text),
    from,
  });
  const file = (name: string, key: keyof Settings["written"], value: Json): Shown => ({
    name,
    value: withoutSecrets(value, text),
    from: config.written[key] ?? "default",
  });
  return [
    one("slots", config.slots),
    one("daemon.port", config.port),
    one("workspace", config.workspace),
    one("verdict_repair", config.verdictRepair),
    one("runner", config.runner),
    one("repository_settings", config.repositorySettings),
    file("model", "model", config.model),
    file("budgets", "budgets", config.budgets),
    file("agents", "agents", config.agents),
    file("agent_limits", "agents", config.agentLimits),
    file("environment.pass", "environment", config.passEnvironment),
    file("notify.command", "notify", config.notifyCommand === null ? null : (config.notifyCommand[0] ?? null)),
    // Names only: a URL may be a secret.
    file(
      "notify.endpoints",
      "notify",
      config.notifyEndpoints.map(({ name, format }) => `${name} (${format})`),
    ),
    file(
      "webhooks",
      "webhooks",
      Object.entries(config.webhooks).map(([name, { kind, rights }]) => `${name} (${kind}, ${rights ?? "request"})`),
    ),
    ...Object.entries(config.programs).map(([name, program]) =>
      file(`runners.${name}`, "runners", {
        command: program.command ?? null,
        env: Object.keys(program.env),
        pass: program.pass,
        models: program.models,
      }),
    ),
  ];
}

function withoutSecrets(value: Json, text: (value: string) => string): Json {
  if (typeof value === "string") return text(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each: Json) => withoutSecrets(each, text));
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.flatMap(([key, each]) => (each === undefined ? [] : [[key, withoutSecrets(each, text)]])),
  );
}
