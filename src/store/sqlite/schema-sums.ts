// Version 11: running sums of the cost of attempts, by day, flow, stage, agent, runner and model, so that summing all
// cost is as fast after ten thousand runs as after two hundred. They follow from `spending` and from the times of
// `attempts`; triggers keep them so, and verify compares them. A missing model is the empty text here. Time counts once
// an attempt has ended.

type Row = "NEW" | "OLD" | "s";

export const SUMS_KEY = "day, flow, stage, agent, runner, model";
export const SUMMED: readonly string[] =
  "attempts usd unknown_usd assumed_usd input_tokens output_tokens cached_tokens unknown_tokens assumed_tokens duration_ms".split(
    " ",
  );

const ADDED = SUMMED.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");

export const durationOf = (row: string): string =>
  `coalesce(CAST(round((julianday(${row}.ended_at) - julianday(${row}.started_at)) * 86400000) AS INTEGER), 0)`;

/** The amount that a row of `spending` adds to its sums; `sign` -1 subtracts it. */
const amountsOf = (row: Row, sign: 1 | -1): string =>
  [
    "1",
    `coalesce(${row}.usd, 0)`,
    `(${row}.usd IS NULL)`,
    `CASE WHEN ${row}.usd IS NULL THEN ${row}.booked_usd ELSE 0 END`,
    `coalesce(${row}.input_tokens, 0)`,
    `coalesce(${row}.output_tokens, 0)`,
    `coalesce(${row}.cached_tokens, 0)`,
    `(${row}.input_tokens IS NULL AND ${row}.output_tokens IS NULL)`,
    `CASE WHEN ${row}.input_tokens IS NULL AND ${row}.output_tokens IS NULL THEN ${row}.booked_tokens ELSE 0 END`,
    `coalesce((SELECT ${durationOf("a")} FROM attempts a
      WHERE a.run_number = ${row}.run_number AND a.stage = ${row}.stage AND a.attempt = ${row}.attempt), 0)`,
  ]
    .map((amount) => (sign === 1 ? amount : `-(${amount})`))
    .join(", ");

export const keyOf = (row: Row): string =>
  `${row}.day, r.flow, ${row}.stage, ${row}.agent, ${row}.runner, coalesce(${row}.told_model, ${row}.model, '')`;

const change = (row: Row, sign: 1 | -1): string => `
  INSERT INTO spending_sums (${SUMS_KEY}, ${SUMMED.join(", ")})
  SELECT ${keyOf(row)}, ${amountsOf(row, sign)} FROM runs r WHERE r.number = ${row}.run_number
  ON CONFLICT (${SUMS_KEY}) DO UPDATE SET ${ADDED};`;

const forgetEmpty = (row: Row): string => `
  DELETE FROM spending_sums WHERE day = ${row}.day AND stage = ${row}.stage AND agent = ${row}.agent AND attempts = 0;`;

/** The sums computed from the rows: the upgrade writes them, verify compares with them, and a part of a day uses them. */
export const sumsOfRows = (where = ""): string => `
  WITH spent_once (${SUMS_KEY}, ${SUMMED.join(", ")}) AS (
    SELECT ${keyOf("s")}, ${amountsOf("s", 1)} FROM spending s JOIN runs r ON r.number = s.run_number ${where}
  )
  SELECT ${SUMS_KEY}, ${SUMMED.map((column) => `sum(${column})`).join(", ")} FROM spent_once GROUP BY ${SUMS_KEY}`;

export const SCHEMA_11_SUMS = `
CREATE TABLE spending_sums (
  day            TEXT NOT NULL,
  flow           TEXT NOT NULL,
  stage          TEXT NOT NULL,
  agent          TEXT NOT NULL,
  runner         TEXT NOT NULL,
  model          TEXT NOT NULL,
  attempts       INTEGER NOT NULL,
  usd            INTEGER NOT NULL,
  unknown_usd    INTEGER NOT NULL,
  assumed_usd    INTEGER NOT NULL,
  input_tokens   INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  cached_tokens  INTEGER NOT NULL,
  unknown_tokens INTEGER NOT NULL,
  assumed_tokens INTEGER NOT NULL,
  duration_ms    INTEGER NOT NULL,
  PRIMARY KEY (day, flow, stage, agent, runner, model)
) STRICT, WITHOUT ROWID;
INSERT INTO spending_sums (${SUMS_KEY}, ${SUMMED.join(", ")}) ${sumsOfRows()};

CREATE TRIGGER sums_added AFTER INSERT ON spending BEGIN ${change("NEW", 1)}
END;
-- The model is known only when the attempt reports, so its sums may be others.
CREATE TRIGGER sums_settled AFTER UPDATE ON spending BEGIN ${change("OLD", -1)} ${change("NEW", 1)} ${forgetEmpty("OLD")}
END;
CREATE TRIGGER sums_taken AFTER DELETE ON spending BEGIN ${change("OLD", -1)} ${forgetEmpty("OLD")}
END;
CREATE TRIGGER sums_timed AFTER UPDATE OF started_at, ended_at ON attempts
WHEN NEW.ended_at IS NOT OLD.ended_at OR NEW.started_at IS NOT OLD.started_at BEGIN
  UPDATE spending_sums SET duration_ms = duration_ms + ${durationOf("NEW")} - ${durationOf("OLD")}
  WHERE (${SUMS_KEY}) = (
    SELECT ${keyOf("s")} FROM spending s JOIN runs r ON r.number = s.run_number
    WHERE s.run_number = NEW.run_number AND s.stage = NEW.stage AND s.attempt = NEW.attempt);
END;
`;
