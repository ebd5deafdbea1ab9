// Acts outside whose attempt has ended: Passrail looks up their outcome at the remote, and undoes a landing if a person
// asked for it. Called until every act is known.

import { join } from "node:path";
import type { OutwardLog } from "../../attempt/outward-log.ts";
import type { Result } from "../../core/result.ts";
import { openActs } from "../../core/run/outward.ts";
import type { OutwardAct } from "../../core/run/outward-act.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Run } from "../../core/run/run.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Store } from "../../store/store.ts";
import { removeDiscarded } from "./discard.ts";
import { lookFor } from "./sight.ts";
import { takeBack } from "./take-back.ts";

export type SettleOptions = {
  readonly home: string;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  readonly now: () => number;
  readonly withdrawnTrust: (run: Run) => string | undefined;
  readonly store: Pick<Store, "loadFlow">;
};

/** A remote that got the work may take this long to show it, for example behind a slow hook. */
const MAY_STILL_COME_MS = 10 * 60_000;

/** False: not all acts are known yet. */
export async function settleActs(run: Run, options: SettleOptions, see: OutwardLog["see"]): Promise<boolean> {
  const acts = openActs(run).filter(({ verb }) => verb !== "delete-branch" && verb !== "discard");
  for (const { key, verb, commit } of openActs(run))
    if (verb === "discard") await see(key, await removeDiscarded(options.store, run, commit));
  if (acts.length === 0) return true;
  let isKnown = true;
  for (const act of acts) {
    const forge = await options.forgeOf(placeOfAct(projectOf(run), act));
    if (!forge.ok) throw new Error(forge.error.message);
    if (!(await settleAct(run, act, forge.value, options, see))) isKnown = false;
  }
  return isKnown;
}

function placeOfAct(project: string, { repository }: OutwardAct): string {
  return repository === undefined ? project : join(project, repository);
}

async function settleAct(
  run: Run,
  act: OutwardAct,
  forge: Forge,
  options: SettleOptions,
  see: OutwardLog["see"],
): Promise<boolean> {
  if (act.verb === "undo") {
    const untrusted = options.withdrawnTrust(run);
    if (untrusted !== undefined) throw new Error(`nothing was taken back: ${untrusted}`);
    const undone = await takeBack(run, act, forge, options.home);
    if (!undone.ok && isPassing(undone.error.code)) throw new Error(undone.error.message);
    await see(
      act.key,
      undone.ok ? { result: "done", ...undone.value } : { result: "not-done", why: undone.error.message },
    );
    return true;
  }
  const seen = await lookFor(forge, act);
  if (!seen.ok) throw new Error(seen.error.message);
  if (seen.value !== null) await see(act.key, { result: "done", ...seen.value });
  else if (options.now() - Date.parse(act.intendedAt) < MAY_STILL_COME_MS) return false;
  else await see(act.key, { result: "not-done", why: "the remote does not show it" });
  return true;
}

function isPassing(code: string): boolean {
  return ["unreachable", "server_error", "rate_limit", "repository_busy", "target_moved"].includes(code);
}
