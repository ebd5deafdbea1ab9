// Version 8: results of checks by program, tree and environment, so that an unchanged tree is not checked twice. A row is a copy that anyone
// may lose: it goes with its run, and after a time.

export const SCHEMA_8_CHECKS = `
CREATE TABLE checks (
  key      TEXT PRIMARY KEY,
  run_id   TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  body     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX checks_by_time ON checks (saved_at);
CREATE INDEX checks_by_run ON checks (run_id);
`;
