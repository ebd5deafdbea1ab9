// Who may do what: the server gives rights by the kind of token, nothing that a client sends raises them. A route names one scope;
// a kind that the table does not grant it is refused.

export const SCOPES = ["read", "own-run", "work", "operate", "hook", "login"] as const;
/**
 * read: everything that can be looked at. own-run: one run, for an attempt only its own. work: hand over and report
 * as an agent, for an attempt only as itself. operate: start, answer, cancel.
 * hook: send what a webhook's source has to say. login: turn a one-time code into a session.
 */
export type Scope = (typeof SCOPES)[number];

export const PRINCIPALS = ["operator", "viewer", "attempt", "webhook", "login"] as const;
export type PrincipalKind = (typeof PRINCIPALS)[number];

const GRANTS: Readonly<Record<PrincipalKind, readonly Scope[]>> = {
  operator: ["read", "own-run", "work", "operate"],
  viewer: ["read", "own-run"],
  attempt: ["own-run", "work"],
  webhook: ["hook"],
  login: ["login"],
};

export function grants(kind: PrincipalKind, scope: Scope): boolean {
  return GRANTS[kind].includes(scope);
}

/** The kinds that have a scope, for the documentation. */
export function holdersOf(scope: Scope): readonly PrincipalKind[] {
  return PRINCIPALS.filter((kind) => grants(kind, scope));
}

/** How tokens begin, so that people and scanners can tell what they found. */
export const TOKEN_PREFIX = {
  operator: "pr_op_",
  viewer: "pr_vw_",
  webhook: "pr_wh_",
  attempt: "pr_at_",
  session: "pr_se_",
  login: "pr_lc_",
} as const;
