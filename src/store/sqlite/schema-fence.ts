// Version 7: one row that says which store this is and who owns it. `incarnation` is random: a store that was restored from a backup gets a
// new one. `epoch` grows with every process that performs; a commit of an earlier owner is refused.

export const SCHEMA_7_FENCE = `
CREATE TABLE identity (
  only        INTEGER PRIMARY KEY CHECK (only = 1),
  incarnation TEXT NOT NULL,
  epoch       INTEGER NOT NULL
) STRICT;
INSERT INTO identity (only, incarnation, epoch) VALUES (1, lower(hex(randomblob(8))), 0);
`;
