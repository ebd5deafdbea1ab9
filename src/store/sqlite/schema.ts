// The tables, version by version. Never edit one that was released: a later version is a new entry in migrations.ts.
// `events` is the truth; runs.state, attempts, handoffs and inbox are projections of it and can be rebuilt (verify.ts does).
// Keys begin with the run's number, not with its id: numbers grow, so runs that work at the same time share pages of an index,
// and a store with many runs is as fast as a new one. The id is random and is there to be read.

export const SCHEMA_1 = `
CREATE TABLE runs (
  number        INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  flow          TEXT NOT NULL,
  flow_hash     TEXT NOT NULL,
  subject_id    TEXT NOT NULL,
  subject_title TEXT NOT NULL,
  created_at    TEXT NOT NULL,
  status        TEXT NOT NULL,
  word          TEXT NOT NULL,
  stage         TEXT,
  version       INTEGER NOT NULL,
  head          TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  updated_seq   INTEGER NOT NULL,
  state         TEXT NOT NULL
) STRICT;
-- Without the time of the last change, which every handoff moves. Within a status the entries are in order of number.
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX runs_by_subject ON runs (subject_id);

CREATE TABLE events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  run_number INTEGER NOT NULL REFERENCES runs (number),
  run_id     TEXT NOT NULL,
  version    INTEGER NOT NULL,
  type       TEXT NOT NULL,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  body       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  UNIQUE (run_number, version)
) STRICT;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;

CREATE TABLE signals (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  signal_id  TEXT NOT NULL,
  PRIMARY KEY (run_number, signal_id)
) STRICT, WITHOUT ROWID;

-- outcome_seq is the event that holds the outcome: a payload can be large and is stored once.
CREATE TABLE attempts (
  run_number  INTEGER NOT NULL REFERENCES runs (number),
  run_id      TEXT NOT NULL,
  stage       TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  track       TEXT NOT NULL,
  status      TEXT NOT NULL,
  handoff     INTEGER NOT NULL,
  ready_seq   INTEGER NOT NULL,
  ready_at    TEXT NOT NULL,
  started_at  TEXT,
  ended_at    TEXT,
  outcome_seq INTEGER,
  facts       TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (run_number, stage, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE handoffs (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  run_number       INTEGER NOT NULL REFERENCES runs (number),
  run_id           TEXT NOT NULL,
  number           INTEGER NOT NULL,
  track            TEXT NOT NULL,
  from_stage       TEXT,
  from_agent       TEXT,
  from_attempt     INTEGER NOT NULL,
  to_stage         TEXT,
  to_agent         TEXT,
  loop             INTEGER NOT NULL,
  state            TEXT NOT NULL DEFAULT 'pending',
  rejection_reason TEXT,
  created_at       TEXT NOT NULL,
  processed_at     TEXT,
  UNIQUE (run_number, number)
) STRICT;

CREATE TABLE inbox (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  run_id     TEXT NOT NULL,
  number     INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  stage      TEXT NOT NULL,
  opened_at  TEXT NOT NULL,
  item       TEXT NOT NULL,
  PRIMARY KEY (run_number, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE work (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id  TEXT NOT NULL REFERENCES runs (id),
  command TEXT NOT NULL
) STRICT;

CREATE TABLE flows (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

-- The names and the three words under which the outside asks for handoffs.
CREATE VIEW agent_handoffs (
  id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) AS
SELECT
  h.id,
  r.subject_id,
  h.from_agent,
  h.to_agent,
  CASE h.state WHEN 'pending' THEN 'pending' WHEN 'accepted' THEN 'accepted' WHEN 'done' THEN 'accepted' ELSE 'rejected' END,
  e.body -> '$.outcome.payload',
  h.rejection_reason,
  h.created_at,
  h.processed_at
FROM handoffs h
JOIN runs r ON r.number = h.run_number
LEFT JOIN attempts a ON a.run_number = h.run_number AND a.stage = h.from_stage AND a.attempt = h.from_attempt
LEFT JOIN events e ON e.seq = a.outcome_seq;
`;

// Version 2: the cost of attempts. Money is in millionths of a dollar, so that sums are exact. `spending` follows from events; `spent` holds
// the running sums that budgets are checked against, so that a check does not grow with history. The triggers keep the two together.

export const SCHEMA_2 = `
CREATE TABLE spending (
  run_number      INTEGER NOT NULL REFERENCES runs (number),
  run_id          TEXT NOT NULL,
  stage           TEXT NOT NULL,
  attempt         INTEGER NOT NULL,
  agent           TEXT NOT NULL,
  runner          TEXT NOT NULL,
  model           TEXT,
  told_model      TEXT,
  ticket          TEXT NOT NULL,
  day             TEXT NOT NULL,
  started_at      TEXT NOT NULL,
  reserved_usd    INTEGER NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  usd             INTEGER,
  input_tokens    INTEGER,
  output_tokens   INTEGER,
  cached_tokens   INTEGER,
  settled_seq     INTEGER,
  booked_usd      INTEGER NOT NULL AS (coalesce(usd, reserved_usd)) VIRTUAL,
  booked_tokens   INTEGER NOT NULL AS (
    CASE WHEN input_tokens IS NULL AND output_tokens IS NULL THEN reserved_tokens
    ELSE coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END
  ) VIRTUAL,
  PRIMARY KEY (run_number, stage, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_agent ON spending (agent, runner, model, settled_seq) WHERE settled_seq IS NOT NULL;

CREATE TABLE spent (
  scope  TEXT NOT NULL,
  key    TEXT NOT NULL,
  usd    INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER spending_added AFTER INSERT ON spending BEGIN
  INSERT INTO spent (scope, key, usd, tokens) VALUES
    ('run', NEW.run_id, NEW.booked_usd, NEW.booked_tokens),
    ('ticket', NEW.ticket, NEW.booked_usd, NEW.booked_tokens),
    ('day', NEW.day, NEW.booked_usd, NEW.booked_tokens)
  ON CONFLICT (scope, key) DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens;
END;
CREATE TRIGGER spending_settled AFTER UPDATE ON spending BEGIN
  UPDATE spent SET usd = usd + NEW.booked_usd - OLD.booked_usd, tokens = tokens + NEW.booked_tokens - OLD.booked_tokens
  WHERE (scope = 'run' AND key = NEW.run_id) OR (scope = 'ticket' AND key = NEW.ticket) OR (scope = 'day' AND key = NEW.day);
END;
`;

// Version 3: handoffs with what they carry, and a way for a story to go. `handoff_rows` says what core/view/story.ts says: the story
// at first, then what the sender gave; what comes back carries what was sent and why it was refused. A walk over returns ends at the
// handoff that was not one. Events still never change and never go, except those of a run that is being deleted: their numbers are noted
// in `gaps`, so that verify can tell them from lost ones, and what they cost on a day stays in `forgotten`.

export const SCHEMA_3 = `
DROP VIEW agent_handoffs;
CREATE INDEX handoffs_pending ON handoffs (created_at) WHERE state = 'pending';

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
    ), origin AS (
      SELECT s.step, s.reason, CASE
        WHEN s.from_stage IS NULL THEN json_object('story', json_object(
          'id', r.state -> '$.subject.id', 'title', r.state -> '$.subject.title', 'body', r.state -> '$.subject.body'))
        ELSE (
          SELECT e.body -> '$.outcome.payload' FROM attempts a JOIN events e ON e.seq = a.outcome_seq
          WHERE a.run_number = h.run_number AND a.stage = s.from_stage AND a.attempt = s.from_attempt
        ) END AS payload
      FROM sent s ORDER BY s.step DESC LIMIT 1
    )
    SELECT CASE step WHEN 0 THEN payload
      ELSE json_set(coalesce(payload, '{}'), '$.rejection_reason', reason, '$.rejected_by', h.from_agent) END
    FROM origin
  ) AS payload
FROM handoffs h JOIN runs r ON r.number = h.run_number;

CREATE VIEW agent_handoffs (
  id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) AS
SELECT
  id,
  subject_id,
  from_agent,
  to_agent,
  CASE state WHEN 'pending' THEN 'pending' WHEN 'accepted' THEN 'accepted' WHEN 'done' THEN 'accepted' ELSE 'rejected' END,
  payload,
  rejection_reason,
  created_at,
  processed_at
FROM handoff_rows;

-- Runs that are being deleted; empty outside of that transaction.
CREATE TABLE deleting (run_number INTEGER PRIMARY KEY) STRICT;
DROP TRIGGER events_never_go;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM deleting WHERE run_number = OLD.run_number)
BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;

CREATE TABLE gaps (
  first_seq INTEGER PRIMARY KEY,
  last_seq  INTEGER NOT NULL
) STRICT;

CREATE TABLE forgotten (
  day    TEXT PRIMARY KEY,
  usd    INTEGER NOT NULL,
  tokens INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

// Version 4: lists stay as fast as they are in a new store. Every filter of a list of runs has an index in order of number; with the flow in
// it, a status and a flow together are looked up without touching a row. The cost of runs since a time is found by that time. A handoff to a
// person's gate is answered through the inbox and stays pending here, so those to agents have an index without them.

export const SCHEMA_4 = `
DROP INDEX runs_by_status;
CREATE INDEX runs_by_status ON runs (status, number, flow);
CREATE INDEX runs_by_word ON runs (word, number, flow);
CREATE INDEX runs_by_flow ON runs (flow);
CREATE INDEX spending_by_time ON spending (started_at);
DROP INDEX handoffs_pending;
CREATE INDEX handoffs_pending ON handoffs (created_at) WHERE state = 'pending' AND to_agent IS NOT NULL;
`;

// Version 5: requests that carry an idempotency key, so that a repeat after a restart gets the first answer. The row is written before the
// request is carried out; `answer` is NULL until it is known.

export const SCHEMA_5 = `
CREATE TABLE requests (
  caller     TEXT NOT NULL,
  key        TEXT NOT NULL,
  request    TEXT NOT NULL,
  claimed_at TEXT NOT NULL,
  answer     TEXT,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (claimed_at);
`;
