// Version 4: running sums of the cost of attempts, as version 11 of SQLite's schema, and an index of the open runs.

import { SUMMED } from "../sqlite/schema-sums.ts";

const KEY = "day, flow, stage, agent, runner, model";
const COLUMNS = SUMMED.join(", ");

const ADDED = SUMMED.map((column) => `${column} = spending_sums.${column} + excluded.${column}`).join(", ");

const durationOf = (row: string): string =>
  `coalesce(round(extract(epoch FROM ${row}.ended_at::timestamptz - ${row}.started_at::timestamptz) * 1000), 0)::bigint`;

/** The amount that a row of `spending` adds to its sums; `sign` -1 subtracts it. */
const amountsOf = (row: string, sign: 1 | -1): string =>
  [
    "1",
    `coalesce(${row}.usd, 0)`,
    `(${row}.usd IS NULL)::int`,
    `CASE WHEN ${row}.usd IS NULL THEN ${row}.booked_usd ELSE 0 END`,
    `coalesce(${row}.input_tokens, 0)`,
    `coalesce(${row}.output_tokens, 0)`,
    `coalesce(${row}.cached_tokens, 0)`,
    `(${row}.input_tokens IS NULL AND ${row}.output_tokens IS NULL)::int`,
    `CASE WHEN ${row}.input_tokens IS NULL AND ${row}.output_tokens IS NULL THEN ${row}.booked_tokens ELSE 0 END`,
    `coalesce((SELECT ${durationOf("a")} FROM passrail.attempts a
      WHERE a.run_number = ${row}.run_number AND a.stage = ${row}.stage AND a.attempt = ${row}.attempt), 0)`,
  ]
    .map((amount) => (sign === 1 ? amount : `-(${amount})`))
    .join(", ");

const keyOf = (row: string): string =>
  `${row}.day, r.flow, ${row}.stage, ${row}.agent, ${row}.runner, coalesce(${row}.told_model, ${row}.model, '')`;

const change = (row: string, sign: 1 | -1): string => `
    INSERT INTO spending_sums (${KEY}, ${COLUMNS})
    SELECT ${keyOf(row)}, ${amountsOf(row, sign)} FROM runs r WHERE r.number = ${row}.run_number
    ON CONFLICT (${KEY}) DO UPDATE SET ${ADDED};`;

/** The sums computed from the rows: the upgrade writes them, verify compares with them, and a part of a day uses them. */
export const sumsOfRows = (where = ""): string => `
  WITH spent_once (${KEY}, ${COLUMNS}) AS (
    SELECT ${keyOf("s")}, ${amountsOf("s", 1)} FROM passrail.spending s JOIN passrail.runs r ON r.number = s.run_number ${where}
  )
  SELECT ${KEY}, ${SUMMED.map((column) => `sum(${column})::bigint AS ${column}`).join(", ")} FROM spent_once GROUP BY ${KEY}`;

export const SUMS_4 = `
CREATE TABLE spending_sums (
  day            text COLLATE "C" NOT NULL,
  flow           text COLLATE "C" NOT NULL,
  stage          text COLLATE "C" NOT NULL,
  agent          text COLLATE "C" NOT NULL,
  runner         text COLLATE "C" NOT NULL,
  model          text COLLATE "C" NOT NULL,
  attempts       bigint NOT NULL,
  usd            bigint NOT NULL,
  unknown_usd    bigint NOT NULL,
  assumed_usd    bigint NOT NULL,
  input_tokens   bigint NOT NULL,
  output_tokens  bigint NOT NULL,
  cached_tokens  bigint NOT NULL,
  unknown_tokens bigint NOT NULL,
  assumed_tokens bigint NOT NULL,
  duration_ms    bigint NOT NULL,
  PRIMARY KEY (day, flow, stage, agent, runner, model)
) WITH (fillfactor = 70);
INSERT INTO spending_sums (${KEY}, ${COLUMNS}) ${sumsOfRows()};

CREATE FUNCTION keep_spending_sums() RETURNS trigger LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN ${change("OLD", -1)}
  END IF;
  IF TG_OP <> 'DELETE' THEN ${change("NEW", 1)}
  END IF;
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM spending_sums WHERE day = OLD.day AND stage = OLD.stage AND agent = OLD.agent AND attempts = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER spending_sums_kept AFTER INSERT OR UPDATE OR DELETE ON spending FOR EACH ROW EXECUTE FUNCTION keep_spending_sums();

CREATE FUNCTION keep_summed_times() RETURNS trigger LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  UPDATE spending_sums SET duration_ms = duration_ms + ${durationOf("NEW")} - ${durationOf("OLD")}
  WHERE (${KEY}) = (
    SELECT ${keyOf("s")} FROM spending s JOIN runs r ON r.number = s.run_number
    WHERE s.run_number = NEW.run_number AND s.stage = NEW.stage AND s.attempt = NEW.attempt);
  RETURN NULL;
END $$;
CREATE TRIGGER summed_times_kept AFTER UPDATE OF started_at, ended_at ON attempts FOR EACH ROW
WHEN (NEW.ended_at IS DISTINCT FROM OLD.ended_at OR NEW.started_at IS DISTINCT FROM OLD.started_at)
EXECUTE FUNCTION keep_summed_times();

CREATE INDEX runs_open ON runs (number) WHERE status NOT IN ('completed', 'canceled');
`;
