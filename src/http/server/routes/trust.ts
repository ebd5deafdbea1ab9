// Trust over HTTP: shows the project's files that decide what runs, approves the version that a person looked at, and takes that back.

import { optional } from "../../../core/optional.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import type { TrustState } from "../../../app/trust/trust.ts";
import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";

export function mountTrust(mount: MountRoute, { trust }: ServerDeps): void {
  mount.json(ROUTES.showTrust, async () => (trust === undefined ? err(NO_PROJECT) : shown(trust.look())));

  mount.json(ROUTES.approveTrust, async ({ body, principal }) =>
    trust === undefined ? err(NO_PROJECT) : shown(trust.approve(body.hash, actorOf(principal))),
  );

  mount.json(ROUTES.revokeTrust, async ({ body, principal }) =>
    trust === undefined ? err(NO_PROJECT) : shown(trust.revoke(body.hash, actorOf(principal))),
  );
}

const NO_PROJECT: Refusal = { code: "trust_refused", detail: "This process works on no project." };

function shown(found: Result<TrustState>): Result<AnswerOf<typeof ROUTES.showTrust>, Refusal> {
  if (!found.ok) return err(refusalFor(found.error));
  const { files, effects, ...state } = found.value;
  return ok({ ...state, files: files.map((file) => ({ ...file })), effects: effects.map((effect) => ({ ...effect })) });
}

function refusalFor({ code, message, hint }: Problem): Refusal {
  return {
    code: code === "trust_changed" ? "trust_changed" : "trust_refused",
    detail: message,
    ...optional({ hint }),
  };
}
