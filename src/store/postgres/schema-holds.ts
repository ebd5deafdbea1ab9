// Version 2: the holds of runners, as version 10 of SQLite's schema, and the jobs that write them.

export const HOLDS_2 = `
CREATE TABLE holds (
  runner  text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  cause   text COLLATE "C" NOT NULL,
  reason  text NOT NULL,
  since   text COLLATE "C" NOT NULL,
  until   text COLLATE "C",
  run_id  text COLLATE "C",
  set_by  text NOT NULL,
  PRIMARY KEY (runner, account)
);

CREATE FUNCTION set_hold(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  hold jsonb := job -> 'hold';
BEGIN
  INSERT INTO holds (runner, account, cause, reason, since, until, run_id, set_by)
  VALUES (hold ->> 'runner', hold ->> 'account', hold ->> 'cause', hold ->> 'reason', hold ->> 'since', hold ->> 'until',
    hold ->> 'run_id', hold ->> 'set_by')
  ON CONFLICT (runner, account) DO UPDATE SET cause = excluded.cause, reason = excluded.reason, since = excluded.since,
    until = excluded.until, run_id = excluded.run_id, set_by = excluded.set_by;
  RETURN '{}';
END $$;

CREATE FUNCTION lift_hold(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  DELETE FROM holds WHERE runner = job ->> 'runner' AND account = job ->> 'account';
  RETURN jsonb_build_object('lifted', FOUND);
END $$;

CREATE OR REPLACE FUNCTION perform_job(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  CASE job ->> 'type'
  WHEN 'commit' THEN RETURN commit_change(job);
  WHEN 'note' THEN RETURN note_attempt(job);
  WHEN 'settle' THEN DELETE FROM work WHERE id = (job ->> 'id')::bigint;
  WHEN 'flow' THEN INSERT INTO flows (hash, body) VALUES (job ->> 'hash', job ->> 'body') ON CONFLICT DO NOTHING;
  WHEN 'delete' THEN RETURN delete_subject(job ->> 'subject');
  WHEN 'claim' THEN RETURN claim_request(job);
  WHEN 'answer' THEN
    UPDATE requests SET answer = job ->> 'answer' WHERE caller = job ->> 'caller' AND key = job ->> 'key';
  WHEN 'release' THEN
    DELETE FROM requests WHERE caller = job ->> 'caller' AND key = job ->> 'key' AND answer IS NULL;
  WHEN 'check' THEN RETURN save_check(job);
  WHEN 'hold' THEN RETURN set_hold(job);
  WHEN 'lift' THEN RETURN lift_hold(job);
  END CASE;
  RETURN '{}';
END $$;
`;
