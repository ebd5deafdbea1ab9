// Version 10: runners whose account is over a limit, so that no run has to find it out again, also after a restart. `until` is NULL where
// nothing but a person ends it. `account` is the pool that pays: one runner may have several logins.

export const SCHEMA_10_HOLDS = `
CREATE TABLE holds (
  runner  TEXT NOT NULL,
  account TEXT NOT NULL,
  cause   TEXT NOT NULL,
  reason  TEXT NOT NULL,
  since   TEXT NOT NULL,
  until   TEXT,
  run_id  TEXT,
  set_by  TEXT NOT NULL,
  PRIMARY KEY (runner, account)
) STRICT, WITHOUT ROWID;
`;
