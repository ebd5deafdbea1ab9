// Version 9: a handoff carries people's words to its agents (`added`, keys of its payload), and a returned one carries
// its sender's payload besides the reason. An agent outside reads only these rows.

export const AGENT_HANDOFFS = `CREATE VIEW agent_handoffs (
  id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) AS
SELECT
  h.id,
  h.subject_id,
  coalesce(h.from_agent, h.from_stage),
  coalesce(h.to_agent, h.to_stage),
  CASE h.state WHEN 'pending' THEN 'pending' WHEN 'accepted' THEN 'accepted' WHEN 'done' THEN 'accepted' ELSE 'rejected' END,
  CASE WHEN accepted.payload IS NULL THEN h.payload ELSE (
    SELECT json_group_object(key, json(value)) FROM (
      SELECT sent.key, h.payload -> sent.fullkey AS value FROM json_each(coalesce(h.payload, '{}')) sent
      WHERE sent.key NOT IN (SELECT more.key FROM json_each(accepted.payload) more)
      UNION ALL
      SELECT more.key, accepted.payload -> more.fullkey FROM json_each(accepted.payload) more
    )
  ) END,
  h.rejection_reason,
  h.created_at,
  h.processed_at
FROM handoff_rows h
JOIN flows f ON f.hash = h.flow_hash
LEFT JOIN (
  SELECT run_number, facts ->> '$.accepted.handoff' AS handoff, facts -> '$.accepted.payload' AS payload FROM attempts
  WHERE facts -> '$.accepted' IS NOT NULL
) accepted ON accepted.run_number = h.run_number AND accepted.handoff = h.number
WHERE coalesce(f.body ->> '$.flow.handoffs.entry', f.body ->> '$.flow.handoffs.exit') IS NOT NULL;
`;

export const SCHEMA_9_TOLD = `
ALTER TABLE handoffs ADD COLUMN added TEXT;

DROP VIEW agent_handoffs;
DROP VIEW handoff_rows;
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
          SELECT e.body -> '$.outcome.payload' FROM attempts a JOIN events e ON e.seq = a.outcome_seq
          WHERE a.run_number = h.run_number AND a.stage = s.from_stage AND a.attempt = s.from_attempt
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

${AGENT_HANDOFFS}`;
