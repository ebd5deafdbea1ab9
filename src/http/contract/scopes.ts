// Rights: the server grants them by the kind of token, and no client input raises them. A route names one scope; a kind of token without
// that scope is refused.

export const SCOPES = [
  "read",
  "own-run",
  "work",
  "find-work",
  "take-work",
  "operate",
  "claim",
  "hook",
  "login",
] as const;
/**
 * read: everything that can be shown.
 * own-run: one run; an attempt has only its own, an agent outside only those that it works on.
 * work: hand over and report as an agent; an attempt and an agent only as themselves.
 * find-work: the attempts that wait for an agent outside; an agent sees only its own.
 * take-work: take such an attempt.
 * operate: start, answer, cancel.
 * claim: carry out attempts for this node, and report them.
 * hook: send deliveries of a webhook's source.
 * login: turn a one-time code into a session.
 */
export type Scope = (typeof SCOPES)[number];

export const PRINCIPALS = ["operator", "viewer", "agent", "attempt", "worker", "webhook", "login"] as const;
export type PrincipalKind = (typeof PRINCIPALS)[number];

const GRANTS: Readonly<Record<PrincipalKind, readonly Scope[]>> = {
  operator: ["read", "own-run", "work", "find-work", "take-work", "operate"],
  viewer: ["read", "own-run", "find-work"],
  agent: ["own-run", "work", "find-work", "take-work"],
  attempt: ["own-run", "work"],
  worker: ["claim"],
  webhook: ["hook"],
  login: ["login"],
};

export function grants(kind: PrincipalKind, scope: Scope): boolean {
  return GRANTS[kind].includes(scope);
}

/** The kinds of token that have a scope, for the documentation. */
export function holdersOf(scope: Scope): readonly PrincipalKind[] {
  return PRINCIPALS.filter((kind) => grants(kind, scope));
}

/** Prefixes of tokens, so that people and scanners recognise a leaked one. */
export const TOKEN_PREFIX = {
  operator: "pr_op_",
  viewer: "pr_vw_",
  agent: "pr_ag_",
  worker: "pr_wk_",
  webhook: "pr_wh_",
  attempt: "pr_at_",
  session: "pr_se_",
  login: "pr_lc_",
} as const;
