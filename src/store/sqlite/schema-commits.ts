// Version 13: the events of one commit are one row with one hash, where each had a row and a hash of its own. `commits` has them, packed as
// pack.ts says; seq and version are those of the last event, and events of a commit have neighbouring numbers. Rows that are in `events`
// stay there as they are, each a commit of one event; new ones are never added. So an upgrade takes the same time for every store, a
// chain continues from its last old hash, and history.ts reads both. The number of the last event is that of the last row, or of the
// last gap.

/** The payload of the event with the number `seq`, if it is in a row of `commits`. */
const payloadInCommit = (seq: string): string => `(
  SELECT CASE
    WHEN place.body ->> (place.path || '[0]') = 0 THEN (place.body ->> (place.path || '[2]')) -> '$.outcome.payload'
    ELSE (
      SELECT place.body -> (place.path || '[' || named.key || ']') FROM shapes s, json_each(s.names) named
      WHERE s.id = place.body ->> (place.path || '[0]') AND named.value = 'outcome.payload'
    ) END
  FROM (
    SELECT c.body, '$[#-' || (c.seq - ${seq} + 1) || ']' AS path FROM commits c WHERE c.seq >= ${seq} ORDER BY c.seq LIMIT 1
  ) place
)`;

export const HANDOFF_ROWS = `
CREATE VIEW handoff_rows AS
SELECT
  h.*,
  r.subject_id,
  r.flow_hash,
  (
    WITH RECURSIVE sent (number, from_stage, from_agent, from_attempt, to_agent, reason, step) AS (
      SELECT h.number, h.from_stage, h.from_agent, h.from_attempt, h.to_agent, NULL, 0
      UNION ALL
      SELECT p.number, p.from_stage, p.from_agent, p.from_attempt, p.to_agent,
        CASE s.step WHEN 0 THEN coalesce(p.rejection_reason, '') ELSE s.reason END, s.step + 1
      FROM sent s JOIN handoffs p ON p.run_number = h.run_number AND p.state = 'rejected' AND p.number = (
        SELECT max(q.number) FROM handoffs q
        WHERE q.run_number = h.run_number AND q.number < s.number AND q.from_agent IS s.to_agent AND q.to_agent IS s.from_agent
      )
      WHERE s.from_stage IS NOT NULL
    ), given (step, reason, payload) AS (
      SELECT s.step, s.reason, CASE
        WHEN s.from_stage IS NULL THEN json_object('story', json_object(
          'id', r.state -> '$.subject.id', 'title', r.state -> '$.subject.title', 'body', r.state -> '$.subject.body'))
        ELSE (
          SELECT coalesce(
            (SELECT e.body -> '$.outcome.payload' FROM events e WHERE e.seq = a.outcome_seq),
            ${payloadInCommit("a.outcome_seq")}
          ) FROM attempts a
          WHERE a.run_number = h.run_number AND a.stage = s.from_stage AND a.attempt = s.from_attempt
            AND a.outcome_seq IS NOT NULL
        ) END
      FROM sent s
    ), origin AS (
      SELECT * FROM given ORDER BY step DESC LIMIT 1
    ), own AS (
      SELECT payload FROM given WHERE step = 0
    ), carried (payload) AS (
      SELECT CASE step WHEN 0 THEN payload
        ELSE json_set((
          SELECT json_group_object(key, json(value)) FROM (
            SELECT first.key, origin.payload -> first.fullkey AS value FROM json_each(coalesce(origin.payload, '{}')) first
            WHERE first.key NOT IN (SELECT more.key FROM own, json_each(coalesce(own.payload, '{}')) more)
            UNION ALL
            SELECT more.key, own.payload -> more.fullkey FROM own, json_each(coalesce(own.payload, '{}')) more
          )
        ), '$.rejection_reason', reason, '$.rejected_by', h.from_agent) END
      FROM origin
    )
    SELECT CASE WHEN h.added IS NULL THEN payload ELSE json_patch(coalesce(payload, '{}'), h.added) END FROM carried
  ) AS payload
FROM handoffs h JOIN runs r ON r.number = h.run_number;
`;

export const APPEND_ONLY = `CREATE TRIGGER commits_never_change BEFORE UPDATE ON commits BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
CREATE TRIGGER commits_never_go BEFORE DELETE ON commits
WHEN NOT EXISTS (SELECT 1 FROM deleting WHERE run_number = OLD.run_number)
BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
`;

export const SCHEMA_13_COMMITS = `
CREATE TABLE shapes (
  id    INTEGER PRIMARY KEY,
  names TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE commits (
  seq        INTEGER PRIMARY KEY,
  run_number INTEGER NOT NULL REFERENCES runs (number),
  version    INTEGER NOT NULL,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  body       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  UNIQUE (run_number, version)
) STRICT;
${APPEND_ONLY}CREATE TRIGGER events_never_come BEFORE INSERT ON events BEGIN SELECT RAISE (ABORT, 'new events are rows of commits'); END;

DROP VIEW handoff_rows;
${HANDOFF_ROWS}`;

/** The number of the last event ever stored: numbers of deleted ones are gaps, and are never given again. */
export const LAST_SEQ = `max(
  coalesce((SELECT max(seq) FROM commits), 0), coalesce((SELECT max(seq) FROM events), 0),
  coalesce((SELECT last_seq FROM gaps ORDER BY first_seq DESC LIMIT 1), 0))`;
