// The one function that writes: a list of jobs in one transaction and one round trip. It locks the row of `identity` first, refuses what an
// earlier owner writes, and undoes a job that fails without the others.

export const WRITE_1 = `
CREATE FUNCTION delete_subject(subject text) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  found text[];
  numbers bigint[];
  blocking text[];
  tickets text[];
BEGIN
  SELECT array_agg(id ORDER BY number), array_agg(number),
    array_agg(id ORDER BY number) FILTER (WHERE status NOT IN ('completed', 'canceled'))
  INTO found, numbers, blocking FROM runs WHERE subject_id = subject;
  IF found IS NULL THEN RETURN '{"type": "deleted", "runIds": []}'; END IF;
  IF blocking IS NOT NULL THEN RETURN jsonb_build_object('type', 'not_ended', 'runIds', blocking); END IF;
  SELECT array_agg(id ORDER BY number) INTO blocking FROM runs r
  WHERE subject_id = subject AND EXISTS (
    SELECT 1 FROM work w WHERE w.run_id = r.id AND w.command LIKE '{"type":"release-workspace"%');
  IF blocking IS NOT NULL THEN RETURN jsonb_build_object('type', 'in_use', 'runIds', blocking); END IF;
  INSERT INTO deleting SELECT unnest(numbers);
  SELECT array_agg(DISTINCT ticket) INTO tickets FROM spending WHERE run_number = ANY (numbers);
  INSERT INTO gaps (first_seq, last_seq)
  SELECT min(seq), max(seq) FROM (
    SELECT seq, seq - row_number() OVER (ORDER BY seq) AS island FROM events WHERE run_number = ANY (numbers)
  ) AS islands GROUP BY island;
  INSERT INTO forgotten (day, usd, tokens)
  SELECT day, sum(booked_usd), sum(booked_tokens) FROM spending WHERE run_number = ANY (numbers) GROUP BY day
  ON CONFLICT (day) DO UPDATE SET usd = forgotten.usd + excluded.usd, tokens = forgotten.tokens + excluded.tokens;
  DELETE FROM spending WHERE run_number = ANY (numbers);
  DELETE FROM inbox WHERE run_number = ANY (numbers);
  DELETE FROM handoffs WHERE run_number = ANY (numbers);
  DELETE FROM attempts WHERE run_number = ANY (numbers);
  DELETE FROM signals WHERE run_number = ANY (numbers);
  DELETE FROM events WHERE run_number = ANY (numbers);
  DELETE FROM work WHERE run_id = ANY (found);
  DELETE FROM checks WHERE run_id = ANY (found);
  DELETE FROM spent WHERE (scope = 'run' AND key = ANY (found)) OR (scope = 'ticket' AND key = ANY (tickets));
  INSERT INTO spent (scope, key, usd, tokens)
  SELECT 'ticket', ticket, sum(booked_usd), sum(booked_tokens) FROM spending WHERE ticket = ANY (tickets) GROUP BY ticket;
  DELETE FROM runs WHERE number = ANY (numbers);
  DELETE FROM deleting;
  RETURN jsonb_build_object('type', 'deleted', 'runIds', found);
END $$;

CREATE FUNCTION claim_request(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  known requests%ROWTYPE;
BEGIN
  DELETE FROM requests WHERE caller = job ->> 'caller' AND key = job ->> 'key' AND claimed_at < job ->> 'forgetBefore';
  SELECT * INTO known FROM requests WHERE caller = job ->> 'caller' AND key = job ->> 'key';
  IF NOT FOUND THEN
    INSERT INTO requests (caller, key, request, claimed_at, claim)
    VALUES (job ->> 'caller', job ->> 'key', job ->> 'request', job ->> 'at', job ->> 'claim');
    IF (job ->> 'trim')::bigint > 0 THEN
      DELETE FROM requests WHERE claimed_at < job ->> 'forgetBefore';
      DELETE FROM requests WHERE (caller, key) IN (
        SELECT caller, key FROM requests ORDER BY claimed_at DESC, caller, key OFFSET (job ->> 'trim')::bigint);
    END IF;
    RETURN '{"type": "new"}';
  END IF;
  IF known.claim = job ->> 'claim' AND known.answer IS NULL THEN RETURN '{"type": "new"}'; END IF;
  IF known.request <> job ->> 'request' THEN RETURN '{"type": "reused"}'; END IF;
  IF known.answer IS NULL THEN RETURN '{"type": "unanswered"}'; END IF;
  RETURN jsonb_build_object('type', 'answered', 'answer', known.answer);
END $$;

CREATE FUNCTION note_attempt(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  UPDATE attempts SET facts = facts || (job -> 'facts')
  WHERE run_number = (SELECT number FROM runs WHERE id = job ->> 'runId') AND stage = job ->> 'stage'
    AND attempt = (job ->> 'attempt')::bigint;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'run % has no attempt % of stage %', job ->> 'runId', job ->> 'attempt', job ->> 'stage';
  END IF;
  RETURN '{}';
END $$;

CREATE FUNCTION save_check(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  DELETE FROM checks WHERE saved_at < job ->> 'forgetBefore';
  INSERT INTO checks (key, run_id, saved_at, body) VALUES (job ->> 'key', job ->> 'runId', job ->> 'at', job ->> 'body')
  ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, saved_at = excluded.saved_at, body = excluded.body;
  DELETE FROM checks WHERE key IN (SELECT key FROM checks ORDER BY saved_at DESC, key OFFSET (job ->> 'keep')::bigint);
  RETURN '{}';
END $$;

CREATE FUNCTION perform_job(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
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
  END CASE;
  RETURN '{}';
END $$;

-- \`owner\` is the epoch of a process that performs, NULL of any other.
CREATE FUNCTION write(jobs jsonb, told_incarnation text, owner bigint) RETURNS jsonb
LANGUAGE plpgsql SET search_path = passrail, pg_temp SET lock_timeout = '15s' AS $$
DECLARE
  known identity%ROWTYPE;
  job jsonb;
  answer jsonb;
  answers jsonb[] := '{}';
BEGIN
  SELECT * INTO known FROM identity FOR UPDATE;
  IF known.incarnation <> told_incarnation THEN RETURN '{"fenced": "content"}'; END IF;
  IF known.epoch <> owner THEN RETURN '{"fenced": "owner"}'; END IF;
  FOR job IN SELECT value FROM jsonb_array_elements(jobs) LOOP
    BEGIN
      answer := perform_job(job);
    EXCEPTION
      WHEN SQLSTATE 'PR001' THEN answer := jsonb_build_object('type', 'over_budget', 'over', SQLERRM::jsonb);
      WHEN OTHERS THEN
        -- The machine is the reason, not this job: nobody is served.
        IF SQLSTATE ~ '^(08|40|53|55|57|58|XX)' THEN RAISE; END IF;
        answer := jsonb_build_object('error', SQLERRM, 'code', SQLSTATE);
    END;
    answers := answers || answer;
  END LOOP;
  RETURN jsonb_build_object('before', known.last_seq, 'after', (SELECT last_seq FROM identity), 'answers', to_jsonb(answers));
END $$;
`;
