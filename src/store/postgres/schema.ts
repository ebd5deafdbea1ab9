// The tables in Postgres, in the schema `passrail`. They are those of SQLite (its files say why each is as it is); what differs:
// - `identity` also holds the last numbers that were given. Every writing transaction locks this row first, so numbers follow the order in
//   which transactions commit: a reader by number never misses an event that commits late, and transactions cannot deadlock.
// - JSON that must stay as it was written is text: `jsonb` knows no NUL, no half characters and no order of keys.
// - Text is compared byte by byte (COLLATE "C"), as in SQLite, whatever the database's locale is.
// Never edit a version that was released: a later one is a new entry in migrations.ts.

export const TABLES_1 = `
CREATE TABLE identity (
  single       integer PRIMARY KEY CHECK (single = 1),
  incarnation  text NOT NULL,
  epoch        bigint NOT NULL,
  last_seq     bigint NOT NULL,
  last_run     bigint NOT NULL,
  last_handoff bigint NOT NULL,
  last_work    bigint NOT NULL
) WITH (fillfactor = 20);
INSERT INTO identity VALUES (1, substr(md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text), 1, 16), 0, 0, 0, 0, 0);

-- Who performs. The database's clock decides.
CREATE TABLE performer (
  single integer PRIMARY KEY CHECK (single = 1),
  token  text NOT NULL,
  holder text NOT NULL,
  since  timestamptz NOT NULL,
  until  timestamptz NOT NULL
) WITH (fillfactor = 20);
INSERT INTO performer VALUES (1, '', '', '-infinity', '-infinity');

CREATE TABLE runs (
  number        bigint PRIMARY KEY,
  id            text COLLATE "C" NOT NULL UNIQUE,
  flow          text COLLATE "C" NOT NULL,
  flow_hash     text COLLATE "C" NOT NULL,
  subject_id    text COLLATE "C" NOT NULL,
  subject_title text COLLATE "C" NOT NULL,
  created_at    text COLLATE "C" NOT NULL,
  status        text COLLATE "C" NOT NULL,
  word          text COLLATE "C" NOT NULL,
  stage         text COLLATE "C",
  version       bigint NOT NULL,
  head          text COLLATE "C" NOT NULL,
  updated_at    text COLLATE "C" NOT NULL,
  updated_seq   bigint NOT NULL,
  state         text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX runs_by_status ON runs (status, number);
CREATE INDEX runs_by_word ON runs (word, number);
CREATE INDEX runs_by_flow ON runs (flow, number);
CREATE INDEX runs_by_subject ON runs (subject_id, number);

CREATE TABLE events (
  seq        bigint PRIMARY KEY,
  run_number bigint NOT NULL REFERENCES runs (number),
  run_id     text COLLATE "C" NOT NULL,
  version    bigint NOT NULL,
  type       text COLLATE "C" NOT NULL,
  at         text COLLATE "C" NOT NULL,
  actor      text NOT NULL,
  body       text NOT NULL,
  hash       text COLLATE "C" NOT NULL,
  UNIQUE (run_number, version)
);

CREATE TABLE signals (
  run_number bigint NOT NULL REFERENCES runs (number),
  signal_id  text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_number, signal_id)
);

CREATE TABLE attempts (
  run_number  bigint NOT NULL REFERENCES runs (number),
  run_id      text COLLATE "C" NOT NULL,
  stage       text COLLATE "C" NOT NULL,
  attempt     bigint NOT NULL,
  track       text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  handoff     bigint NOT NULL,
  ready_seq   bigint NOT NULL,
  ready_at    text COLLATE "C" NOT NULL,
  started_at  text COLLATE "C",
  ended_at    text COLLATE "C",
  outcome_seq bigint,
  facts       jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (run_number, stage, attempt)
);

CREATE TABLE handoffs (
  id               bigint PRIMARY KEY,
  run_number       bigint NOT NULL REFERENCES runs (number),
  run_id           text COLLATE "C" NOT NULL,
  number           bigint NOT NULL,
  track            text COLLATE "C" NOT NULL,
  from_stage       text COLLATE "C",
  from_agent       text COLLATE "C",
  from_attempt     bigint NOT NULL,
  to_stage         text COLLATE "C",
  to_agent         text COLLATE "C",
  loop             bigint NOT NULL,
  state            text COLLATE "C" NOT NULL DEFAULT 'pending',
  rejection_reason text,
  created_at       text COLLATE "C" NOT NULL,
  processed_at     text COLLATE "C",
  added            text,
  UNIQUE (run_number, number)
);
CREATE INDEX handoffs_pending ON handoffs (created_at) WHERE state = 'pending' AND to_agent IS NOT NULL;

CREATE TABLE inbox (
  run_number bigint NOT NULL REFERENCES runs (number),
  run_id     text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  kind       text COLLATE "C" NOT NULL,
  stage      text COLLATE "C" NOT NULL,
  opened_at  text COLLATE "C" NOT NULL,
  item       text NOT NULL,
  PRIMARY KEY (run_number, number)
);

CREATE TABLE work (
  id      bigint PRIMARY KEY,
  run_id  text COLLATE "C" NOT NULL REFERENCES runs (id),
  command text NOT NULL
);
CREATE INDEX work_by_run ON work (run_id);

CREATE TABLE flows (
  hash text COLLATE "C" PRIMARY KEY,
  body text NOT NULL
);

CREATE TABLE spending (
  run_number      bigint NOT NULL REFERENCES runs (number),
  run_id          text COLLATE "C" NOT NULL,
  stage           text COLLATE "C" NOT NULL,
  attempt         bigint NOT NULL,
  agent           text COLLATE "C" NOT NULL,
  runner          text COLLATE "C" NOT NULL,
  model           text COLLATE "C",
  told_model      text COLLATE "C",
  ticket          text COLLATE "C" NOT NULL,
  day             text COLLATE "C" NOT NULL,
  started_at      text COLLATE "C" NOT NULL,
  reserved_usd    bigint NOT NULL,
  reserved_tokens bigint NOT NULL,
  usd             bigint,
  input_tokens    bigint,
  output_tokens   bigint,
  cached_tokens   bigint,
  settled_seq     bigint,
  booked_usd      bigint NOT NULL GENERATED ALWAYS AS (coalesce(usd, reserved_usd)) STORED,
  booked_tokens   bigint NOT NULL GENERATED ALWAYS AS (
    CASE WHEN input_tokens IS NULL AND output_tokens IS NULL THEN reserved_tokens
    ELSE coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END
  ) STORED,
  PRIMARY KEY (run_number, stage, attempt)
);
CREATE INDEX spending_by_agent ON spending (agent, runner, model, settled_seq) WHERE settled_seq IS NOT NULL;
CREATE INDEX spending_by_time ON spending (started_at);
CREATE INDEX spending_by_ticket ON spending (ticket);

CREATE TABLE spent (
  scope  text COLLATE "C" NOT NULL,
  key    text COLLATE "C" NOT NULL,
  usd    bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (scope, key)
) WITH (fillfactor = 70);

-- Runs that are being deleted; empty outside of that transaction.
CREATE TABLE deleting (run_number bigint PRIMARY KEY);

CREATE TABLE gaps (
  first_seq bigint PRIMARY KEY,
  last_seq  bigint NOT NULL
);

CREATE TABLE forgotten (
  day    text COLLATE "C" PRIMARY KEY,
  usd    bigint NOT NULL,
  tokens bigint NOT NULL
);

-- \`claim\` is the asker's own: asking again because the answer was lost is not a second claim.
CREATE TABLE requests (
  caller     text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  request    text COLLATE "C" NOT NULL,
  claimed_at text COLLATE "C" NOT NULL,
  answer     text,
  claim      text NOT NULL DEFAULT '',
  PRIMARY KEY (caller, key)
);
CREATE INDEX requests_by_time ON requests (claimed_at);

CREATE TABLE checks (
  key      text COLLATE "C" PRIMARY KEY,
  run_id   text COLLATE "C" NOT NULL,
  saved_at text COLLATE "C" NOT NULL,
  body     text NOT NULL
);
CREATE INDEX checks_by_time ON checks (saved_at);
CREATE INDEX checks_by_run ON checks (run_id);
`;
