// The page Now, and a person's snoozed entries.

import { rungsIn } from "../../../core/flow/ladder.ts";
import { lookAtNow } from "../../../app/now.ts";
import { listSnoozed, snooze } from "../../../app/snoozed.ts";
import type { PausedAll } from "../../../core/run/pause-all.ts";
import { pauseText } from "../../../core/view/pause-text.ts";
import { ok } from "../../../core/result.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";
import { queueLimits } from "../worker.ts";

export function mountNow(mount: MountRoute, deps: ServerDeps): void {
  const { app, home, now, redact, store } = deps;
  mount.json(ROUTES.showNow, async ({ principal }) => {
    const at = now();
    const { working, next, today, paused, isNew } = await lookAtNow({
      store,
      home,
      limits: queueLimits(deps),
      now: at,
      redact,
      follow: (attempt) => deps.followed.noteLine(attempt),
    });
    const { usd, tokens } = app.budgets().day;
    const person = principal.kind === "operator" ? principal.actor : undefined;
    return ok({
      working: working.map((row) => ({
        ...row,
        lastLine: row.lastLine === null ? null : { ...row.lastLine },
        usage: row.usage === null ? null : { ...row.usage },
      })),
      next: next.map((row) => ({ ...row })),
      today: { ...today, limit: { usd, tokens } },
      paused: paused === null ? null : shownPause(paused),
      logins: await loggedOut(deps, new Set(working.flatMap(({ runner }) => runner ?? []))),
      snoozed: person === undefined ? [] : listSnoozed(home, person, at).map((each) => ({ ...each })),
      isNew,
    });
  });

  mount.json(ROUTES.snoozeEntry, async ({ body: { id, until }, principal }) => {
    const at = until === null ? null : new Date(until).toISOString();
    const list = snooze(home, { person: actorOf(principal), id, until: at, now: now() });
    return ok({ snoozed: list.map((each) => ({ ...each })) });
  });
}

function shownPause({ by, since, reason }: PausedAll) {
  return { by, since, reason, text: pauseText({ by, reason }) };
}

/** Only programs that the settings name, or that work: a user need not log in to every installed one. */
async function loggedOut({ config, runners }: ServerDeps, used: ReadonlySet<string>) {
  const known = (await runners?.())?.runners ?? [];
  const named: readonly string[] =
    config.runner.value === "none" ? [] : rungsIn(config.runner.value).map((rung) => rung.runner);
  return known
    .filter(({ runner, found, login }) => found && login === "no" && (used.has(runner) || named.includes(runner)))
    .map(({ runner, evidence, fix }) => ({ runner, evidence, fix }));
}
