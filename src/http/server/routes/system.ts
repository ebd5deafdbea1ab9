// The daemon itself: health, settings with their origin, login of a browser.

import { ROUTES } from "../../contract/routes.ts";
import { listSettings } from "../../../settings/list-settings.ts";
import { measureDaemon } from "../measure.ts";
import { metricsText } from "../../../core/view/metrics.ts";
import { err, ok, type Problem } from "../../../core/result.ts";
import { optional } from "../../../core/optional.ts";
import type { Refusal } from "../../contract/problem.ts";
import type { NewLoginCode } from "../../contract/schemas/system.ts";
import { actorOf } from "../actor.ts";
import type { PairedDevice } from "../logins.ts";
import { MAX_KEYS } from "../keys.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

export function mountSystem(mount: MountRoute, deps: ServerDeps): void {
  const { store, keys, version, now } = deps;
  mountMetrics(mount, deps);
  mount.json(ROUTES.health, async () => {
    const [lastSeq, runs, waiting] = await Promise.all([store.lastSeq(), store.countRuns(), store.inbox()]);
    return ok({ status: "ok" as const, version, now: now(), lastSeq, runs: { ...runs }, waiting: waiting.length });
  });

  mount.json(ROUTES.settings, async () => ok(shownSettings(deps)));

  mount.json(ROUTES.editSetting, async ({ body: { version: seen, ...body }, principal }) => {
    if (deps.settings === undefined) return err(NO_PROJECT);
    const edited = await deps.settings.edit({ ...body, version: seen }, actorOf(principal));
    return edited.ok ? ok({ ...edited.value }) : err(refusalFor(edited.error));
  });

  mount.json(ROUTES.createLoginCode, async ({ body: { device } }) => {
    const paired = device === undefined ? undefined : pairedDevice(device, now());
    if (paired !== undefined && keys.list().length >= MAX_KEYS)
      return err({ code: "too_many_keys", detail: `There are ${MAX_KEYS} keys already.` });
    const { token, expiresAt } = keys.newLoginCode(paired);
    return ok({ code: token, expiresAt });
  });

  mount.json(ROUTES.createSession, async ({ principal }) => {
    const session = principal.kind === "login" ? await keys.exchange(principal) : undefined;
    // Two requests with one code: the code was open for both, and the first uses it up.
    return session === undefined ? err({ code: "auth_invalid", detail: "The code was used already." }) : ok(session);
  });
}

function pairedDevice({ name, kind, days }: NonNullable<NewLoginCode["device"]>, now: string): PairedDevice {
  return { name, kind, expiresAt: new Date(Date.parse(now) + days * 24 * 3_600_000).toISOString() };
}

function mountMetrics(mount: MountRoute, deps: ServerDeps): void {
  mount.response(ROUTES.metrics, async (_call, context) => {
    const text = metricsText(await measureDaemon(deps));
    return context.text(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
}

const NO_PROJECT: Refusal = { code: "settings_refused", detail: "This process works on no project." };

function refusalFor({ code, message, hint }: Problem): Refusal {
  return {
    code: code === "settings_changed" ? "settings_changed" : "settings_refused",
    detail: message,
    ...optional({ hint }),
  };
}

function shownSettings({ app, config, settings }: ServerDeps) {
  const { rows = [], files = [] } = settings?.look() ?? {};
  return {
    settings: listSettings({ ...config, budgets: app.budgets() }).map((each) => ({ ...each })),
    editable: rows.map(({ kind, ...row }) => ({
      ...row,
      kind: kind.type,
      options: kind.type === "choice" ? [...kind.options] : [],
    })),
    files: files.map((file) => ({ ...file })),
  };
}
