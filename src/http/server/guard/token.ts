// The second guard: finds the principal from the Authorization header, before any of the body is read.

import type { Refusal } from "../../contract/problem.ts";
import { TOKEN_PREFIX } from "../../contract/scopes.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type { ServerDeps } from "../deps.ts";
import type { Principal } from "../principal.ts";

const BEARER = /^Bearer +([A-Za-z0-9_-]{1,200})$/i;
const ASK: Readonly<Record<string, string>> = { "www-authenticate": 'Bearer realm="passrail"' };

export function findPrincipal(
  authorization: readonly string[],
  { keys, attemptOf }: Pick<ServerDeps, "keys" | "attemptOf">,
): Result<Principal, Refusal> {
  const [value, ...others] = authorization;
  if (value === undefined)
    return err({
      code: "auth_required",
      detail: "Every request needs a token.",
      hint: "Authorization: Bearer TOKEN",
      headers: ASK,
    });
  const token = others.length === 0 ? BEARER.exec(value)?.[1] : undefined;
  if (token === undefined) return invalid();
  if (token.startsWith(TOKEN_PREFIX.attempt)) {
    const attempt = attemptOf(token);
    if (attempt === undefined) return invalid();
    const { runId, stage } = attempt;
    return ok({ kind: "attempt", id: `attempt:${runId}/${stage}/${attempt.attempt}`, ...attempt });
  }
  if (token.startsWith(TOKEN_PREFIX.login)) {
    const login = keys.findLogin(token);
    if (login === "too many")
      return err({
        code: "too_many_logins",
        detail: "Too many attempts to log in within an hour.",
        headers: { "retry-after": "600" },
      });
    return login === undefined ? invalid() : ok(login);
  }
  const principal = keys.find(token);
  return principal === undefined ? invalid() : ok(principal);
}

function invalid(): Result<never, Refusal> {
  return err({
    code: "auth_invalid",
    detail: "The token is not known, or is not valid any more.",
    hint: "The operator's token is in a file of the state folder; passrail key create makes others.",
    headers: ASK,
  });
}
