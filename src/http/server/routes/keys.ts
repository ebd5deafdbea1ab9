// Keys over HTTP, logging out, and the audit log. A token is sent once, when its key is created.

import { ROUTES } from "../../contract/routes.ts";
import { SCOPES, grants } from "../../contract/scopes.ts";
import { err, ok } from "../../../core/result.ts";
import { MAX_KEYS } from "../keys.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { nameOf, type Principal } from "../principal.ts";
import { optional } from "../../../core/optional.ts";

export function mountKeys(mount: MountRoute, { keys, audit }: ServerDeps): void {
  mount.json(ROUTES.whoami, async ({ principal }) =>
    ok({
      kind: principal.kind,
      id: principal.id,
      name: nameOf(principal),
      scopes: SCOPES.filter((scope) => grants(principal.kind, scope)),
      isSession: sessionOf(principal) !== undefined,
    }),
  );

  mount.json(ROUTES.listKeys, async () => ok({ keys: keys.list().map((key) => ({ ...key })) }));

  mount.json(ROUTES.createKey, async ({ body }) => {
    if (keys.list().length >= MAX_KEYS)
      return err({
        code: "too_many_keys",
        detail: `There are ${MAX_KEYS} keys already.`,
        hint: "Revoke what is not used any more: DELETE /api/keys/{key}",
      });
    return ok(await keys.create(body));
  });

  mount.json(ROUTES.revokeKey, async ({ params: { key } }) =>
    (await keys.revoke(key))
      ? ok({ id: key, revoked: true as const })
      : err({ code: "key_not_found", detail: `There is no key ${key}.`, hint: "GET /api/keys lists them." }),
  );

  mount.json(ROUTES.endSession, async ({ principal }) => {
    const session = sessionOf(principal);
    const isEnded =
      session === undefined
        ? false
        : session === principal.id
          ? await keys.revoke(session)
          : await keys.endSession(session);
    if (!isEnded)
      return err({ code: "session_not_found", detail: "This token is not one of a session; it stays good." });
    return ok({ ended: true as const });
  });

  mount.json(ROUTES.listAudit, async ({ query: { limit, before, type } }) => {
    const found =
      audit?.list({
        limit: limit + 1,
        ...optional({ before, type }),
      }) ?? [];
    const entries = found.slice(0, limit);
    return ok({
      entries: entries.map((entry) => ({ ...entry })),
      next: found.length > limit ? (entries.at(-1)?.seq ?? null) : null,
    });
  });
}

/** Logging out ends the session of a browser, or the key of a paired device. */
function sessionOf(principal: Principal): string | undefined {
  if (principal.kind !== "operator") return undefined;
  return principal.device === true ? principal.id : principal.session;
}
