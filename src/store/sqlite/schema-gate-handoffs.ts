// Version 5: handoffs to a person's gate end when the gate is answered or withdrawn, and `agent_handoffs` shows what the API shows: only
// stories, the gate's stage where no agent sends or receives, and the payload with what the receiver added when it accepted.
// The UPDATE brings older stores to the rows that project.ts makes from the same events; verify compares the two.

export const SCHEMA_6_GATE_HANDOFFS = `
WITH endings AS (
  SELECT h.id, e.type, e.at, e.body ->> '$.reason' AS reason, row_number() OVER (PARTITION BY h.id ORDER BY e.seq) AS place
  FROM handoffs h
  JOIN events c ON c.run_number = h.run_number AND c.type = 'handoff.created' AND c.body ->> '$.number' = h.number
  JOIN events e ON e.run_number = h.run_number AND e.seq > c.seq AND (
    (e.type = 'gate.answered' AND e.body ->> '$.stage' = h.to_stage)
    OR (e.type = 'item.withdrawn' AND EXISTS (
      SELECT 1 FROM events o
      WHERE o.run_number = h.run_number AND o.type = 'gate.opened'
        AND o.body ->> '$.item.number' = e.body ->> '$.number' AND o.body ->> '$.item.stage' = h.to_stage
    ))
  )
  WHERE h.state = 'pending' AND h.to_agent IS NULL AND h.to_stage IS NOT NULL
)
UPDATE handoffs SET
  state = CASE endings.type WHEN 'gate.answered' THEN 'done' ELSE 'withdrawn' END,
  rejection_reason = CASE endings.type WHEN 'gate.answered' THEN NULL ELSE endings.reason END,
  processed_at = endings.at
FROM endings WHERE endings.id = handoffs.id AND endings.place = 1;

DROP VIEW agent_handoffs;
CREATE VIEW agent_handoffs (
  id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) AS
SELECT
  h.id,
  h.subject_id,
  coalesce(h.from_agent, h.from_stage),
  coalesce(h.to_agent, h.to_stage),
  CASE h.state WHEN 'pending' THEN 'pending' WHEN 'accepted' THEN 'accepted' WHEN 'done' THEN 'accepted' ELSE 'rejected' END,
  CASE WHEN added.payload IS NULL THEN h.payload ELSE (
    SELECT json_group_object(key, json(value)) FROM (
      SELECT sent.key, h.payload -> sent.fullkey AS value FROM json_each(coalesce(h.payload, '{}')) sent
      WHERE sent.key NOT IN (SELECT more.key FROM json_each(added.payload) more)
      UNION ALL
      SELECT more.key, added.payload -> more.fullkey FROM json_each(added.payload) more
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
) added ON added.run_number = h.run_number AND added.handoff = h.number
WHERE coalesce(f.body ->> '$.flow.handoffs.entry', f.body ->> '$.flow.handoffs.exit') IS NOT NULL;
`;
