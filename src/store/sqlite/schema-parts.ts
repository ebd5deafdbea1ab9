// Version 14: attempts, handoffs, open inbox items and the signals of a run are beside each other in one table, so that a handoff writes
// one page for them instead of five; the places of its commits, which were an index, are there, too. The names by which they were known are
// views of it; copies of stores write through these, commits write into `parts`. A commit notes the id of the last handoff that the store
// has given. That number grows with the commits, so the run of a handoff is found by binary search, without an index. Ids that were given before,
// or by another store, are in `handoff_ids`; so is, without a run, the last id when runs are deleted.

import { APPEND_ONLY, HANDOFF_ROWS } from "./schema-commits.ts";
import { durationOf, keyOf, SUMS_KEY } from "./schema-sums.ts";
import { AGENT_HANDOFFS } from "./schema-told.ts";

/** Without a reference to the run, which would have to be looked up from that side, too. `verify` finds a commit without its run. */
const COMMITS_WITHOUT_INDEX = `
CREATE TABLE commits_without_index (
  seq        INTEGER PRIMARY KEY,
  run_number INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  body       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  last_handoff INTEGER NOT NULL
) STRICT;
INSERT INTO commits_without_index SELECT *, 0 FROM commits;
DROP TABLE commits;
ALTER TABLE commits_without_index RENAME TO commits;
${APPEND_ONLY}`;

const MOVED = `
INSERT INTO parts (run_number, kind, name, number, track, state, handoff, ready_seq, began_at, started_at, ended_at, outcome_seq, body)
  SELECT run_number, 'a', stage, attempt, track, status, handoff, ready_seq, ready_at, started_at, ended_at, outcome_seq, facts FROM attempts;
INSERT INTO parts (run_number, kind, name, number, id, track, from_stage, from_agent, from_attempt, to_stage, to_agent, loop, state,
    rejection_reason, began_at, ended_at, body)
  SELECT run_number, 'h', '', number, id, track, from_stage, from_agent, from_attempt, to_stage, to_agent, loop, state,
    rejection_reason, created_at, processed_at, added FROM handoffs;
INSERT INTO handoff_ids (id, run_number) SELECT id, run_number FROM handoffs;
INSERT INTO parts (run_number, kind, name, number, state, to_stage, began_at, body)
  SELECT run_number, 'i', '', number, kind, stage, opened_at, item FROM inbox;
INSERT INTO parts (run_number, kind, name, number) SELECT run_number, 's', signal_id, 0 FROM signals;
INSERT INTO parts (run_number, kind, name, number, ready_seq) SELECT run_number, 'c', '', version, seq FROM commits;
`;

/** The old tables as views, and how a copied row gets into them. No joins, so that a join with a view reads the table by its key. */
const VIEWS = `
CREATE VIEW attempts AS
SELECT p.run_number, (SELECT id FROM runs WHERE number = p.run_number) AS run_id, p.name AS stage, p.number AS attempt, p.track, p.state AS status, p.handoff, p.ready_seq,
  p.began_at AS ready_at, p.started_at, p.ended_at, p.outcome_seq, p.body AS facts
FROM parts p WHERE p.kind = 'a';
CREATE TRIGGER attempts_copied INSTEAD OF INSERT ON attempts BEGIN
  INSERT INTO parts (run_number, kind, name, number, track, state, handoff, ready_seq, began_at, started_at, ended_at, outcome_seq, body)
  VALUES (NEW.run_number, 'a', NEW.stage, NEW.attempt, NEW.track, NEW.status, NEW.handoff, NEW.ready_seq, NEW.ready_at, NEW.started_at,
    NEW.ended_at, NEW.outcome_seq, NEW.facts);
END;

CREATE VIEW handoffs AS
SELECT p.id, p.run_number, (SELECT id FROM runs WHERE number = p.run_number) AS run_id, p.number, p.track, p.from_stage, p.from_agent, p.from_attempt, p.to_stage, p.to_agent, p.loop,
  p.state, p.rejection_reason, p.began_at AS created_at, p.ended_at AS processed_at, p.body AS added
FROM parts p WHERE p.kind = 'h';
CREATE TRIGGER handoffs_copied INSTEAD OF INSERT ON handoffs BEGIN
  INSERT INTO parts (run_number, kind, name, number, id, track, from_stage, from_agent, from_attempt, to_stage, to_agent, loop, state,
    rejection_reason, began_at, ended_at, body)
  VALUES (NEW.run_number, 'h', '', NEW.number, NEW.id, NEW.track, NEW.from_stage, NEW.from_agent, NEW.from_attempt, NEW.to_stage,
    NEW.to_agent, NEW.loop, NEW.state, NEW.rejection_reason, NEW.created_at, NEW.processed_at, NEW.added);
  INSERT INTO handoff_ids (id, run_number) VALUES (NEW.id, NEW.run_number);
END;

CREATE VIEW inbox AS
SELECT p.run_number, (SELECT id FROM runs WHERE number = p.run_number) AS run_id, p.number, p.state AS kind, p.to_stage AS stage, p.began_at AS opened_at, p.body AS item
FROM parts p WHERE p.kind = 'i';
CREATE TRIGGER inbox_copied INSTEAD OF INSERT ON inbox BEGIN
  INSERT INTO parts (run_number, kind, name, number, state, to_stage, began_at, body)
  VALUES (NEW.run_number, 'i', '', NEW.number, NEW.kind, NEW.stage, NEW.opened_at, NEW.item);
END;

CREATE VIEW signals AS SELECT run_number, name AS signal_id FROM parts WHERE kind = 's';
CREATE TRIGGER signals_copied INSTEAD OF INSERT ON signals BEGIN
  INSERT INTO parts (run_number, kind, name, number) VALUES (NEW.run_number, 's', NEW.signal_id, 0);
END;
`;

/** As in version 11, for the table where attempts are now. */
const TIMED = `
CREATE TRIGGER sums_timed AFTER UPDATE OF started_at, ended_at ON parts
WHEN NEW.kind = 'a' AND (NEW.ended_at IS NOT OLD.ended_at OR NEW.started_at IS NOT OLD.started_at) BEGIN
  UPDATE spending_sums SET duration_ms = duration_ms + ${durationOf("NEW")} - ${durationOf("OLD")}
  WHERE (${SUMS_KEY}) = (
    SELECT ${keyOf("s")} FROM spending s JOIN runs r ON r.number = s.run_number
    WHERE s.run_number = NEW.run_number AND s.stage = NEW.name AND s.attempt = NEW.number);
END;
`;

export const SCHEMA_14_PARTS = `
DROP VIEW agent_handoffs;
DROP VIEW handoff_rows;
${COMMITS_WITHOUT_INDEX}

-- By kind: a (attempts), c (commits), h (handoffs), i (open items of the inbox), s (signals).
CREATE TABLE parts (
  run_number       INTEGER NOT NULL REFERENCES runs (number),
  kind             TEXT NOT NULL,
  name             TEXT NOT NULL,
  number           INTEGER NOT NULL,
  state            TEXT,
  track            TEXT,
  began_at         TEXT,
  started_at       TEXT,
  ended_at         TEXT,
  handoff          INTEGER,
  ready_seq        INTEGER,
  outcome_seq      INTEGER,
  id               INTEGER,
  from_stage       TEXT,
  from_agent       TEXT,
  from_attempt     INTEGER,
  to_stage         TEXT,
  to_agent         TEXT,
  loop             INTEGER,
  rejection_reason TEXT,
  body             TEXT,
  PRIMARY KEY (run_number, kind, name, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE handoff_ids (
  id         INTEGER PRIMARY KEY,
  run_number INTEGER
) STRICT;
${MOVED}
INSERT INTO handoff_ids (id) SELECT seq FROM sqlite_sequence WHERE name = 'handoffs' AND seq > 0 ON CONFLICT DO NOTHING;
DROP TABLE attempts;
DROP TABLE handoffs;
DROP TABLE inbox;
DROP TABLE signals;
CREATE INDEX handoffs_pending ON parts (began_at) WHERE kind = 'h' AND state = 'pending' AND to_agent IS NOT NULL;
${VIEWS}
${TIMED}
${HANDOFF_ROWS}
${AGENT_HANDOFFS}`;

/** Where the commits of a run are: the version and the number of the last event of each. */
export const COMMIT_PLACES =
  "(SELECT run_number, number AS version, ready_seq AS seq FROM parts WHERE kind = 'c' AND name = '')";

/** The id of the last handoff that the store has given; none is given again. */
export const LAST_HANDOFF = `max(
  coalesce((SELECT last_handoff FROM commits ORDER BY seq DESC LIMIT 1), 0), coalesce((SELECT max(id) FROM handoff_ids), 0))`;
