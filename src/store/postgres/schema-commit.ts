// The functions that commit one change of a run. They decide nothing that core decides: the events, their hashes and the changes of rows
// (projections.ts) come from the program; numbers in them count from the first event of the change, because only the database knows which
// number that gets. These checks must be inside the transaction: the version, the signals, the room in the budgets.

const PROJECT_1 = `
-- Writes row changes into the projections. \`base\` is added to their sequence numbers, \`first_handoff\` is the last id given before.
CREATE FUNCTION project(run bigint, run_name text, changes jsonb, base bigint, first_handoff bigint) RETURNS void
LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  c jsonb;
  next_handoff bigint := first_handoff;
BEGIN
  FOR c IN SELECT value FROM jsonb_array_elements(changes) LOOP
    CASE c ->> 'type'
    WHEN 'open-attempt' THEN
      INSERT INTO attempts AS a (run_number, run_id, stage, attempt, track, status, handoff, ready_seq, ready_at, started_at)
      VALUES (run, run_name, c ->> 'stage', (c ->> 'attempt')::bigint, c ->> 'track', c ->> 'status', (c ->> 'handoff')::bigint,
        base + (c ->> 'readySeq')::bigint, c ->> 'readyAt', c ->> 'startedAt')
      ON CONFLICT (run_number, stage, attempt) DO UPDATE SET track = excluded.track, status = excluded.status,
        handoff = excluded.handoff, ready_seq = excluded.ready_seq, ready_at = excluded.ready_at,
        started_at = excluded.started_at, ended_at = NULL, outcome_seq = NULL;
    WHEN 'start-attempt' THEN
      UPDATE attempts SET status = 'running', started_at = c ->> 'at'
      WHERE run_number = run AND stage = c ->> 'stage' AND attempt = (c ->> 'attempt')::bigint AND status = 'ready';
    WHEN 'end-attempt' THEN
      UPDATE attempts SET status = c ->> 'status', ended_at = c ->> 'at', outcome_seq = base + (c ->> 'outcomeSeq')::bigint
      WHERE run_number = run AND stage = c ->> 'stage' AND attempt = (c ->> 'attempt')::bigint;
    WHEN 'open-handoff' THEN
      next_handoff := next_handoff + 1;
      INSERT INTO handoffs (id, run_number, run_id, number, track, from_stage, from_agent, from_attempt, to_stage, to_agent,
        loop, state, created_at, processed_at, added)
      VALUES (next_handoff, run, run_name, (c ->> 'number')::bigint, c ->> 'track', c ->> 'fromStage', c ->> 'fromAgent',
        (c ->> 'fromAttempt')::bigint, c ->> 'toStage', c ->> 'toAgent', (c ->> 'loop')::bigint, c ->> 'state',
        c ->> 'createdAt', c ->> 'processedAt', c ->> 'added');
    WHEN 'accept-handoff' THEN
      UPDATE handoffs SET state = 'accepted', processed_at = c ->> 'at'
      WHERE run_number = run AND number = (c ->> 'number')::bigint AND state = 'pending';
    WHEN 'finish-handoff' THEN
      UPDATE handoffs SET state = 'done', processed_at = coalesce(processed_at, c ->> 'at')
      WHERE run_number = run AND state IN ('pending', 'accepted') AND number = (
        SELECT handoff FROM attempts
        WHERE run_number = run AND stage = c ->> 'stage' AND attempt = (c ->> 'attempt')::bigint);
    WHEN 'reopen-handoff' THEN
      UPDATE handoffs SET state = 'accepted' WHERE run_number = run AND state = 'done' AND number = (
        SELECT handoff FROM attempts
        WHERE run_number = run AND stage = c ->> 'stage' AND attempt = (c ->> 'attempt')::bigint);
    WHEN 'end-handoff' THEN
      UPDATE handoffs SET state = c ->> 'state', rejection_reason = c ->> 'reason', processed_at = c ->> 'at'
      WHERE run_number = run AND number = (c ->> 'number')::bigint;
    WHEN 'answer-gate' THEN
      UPDATE handoffs SET state = 'done', processed_at = c ->> 'at'
      WHERE run_number = run AND to_stage = c ->> 'stage' AND to_agent IS NULL AND state = 'pending';
    WHEN 'withdraw-gate' THEN
      UPDATE handoffs SET state = 'withdrawn', rejection_reason = c ->> 'reason', processed_at = c ->> 'at'
      WHERE run_number = run AND to_agent IS NULL AND state = 'pending' AND to_stage = (
        SELECT stage FROM inbox WHERE run_number = run AND number = (c ->> 'number')::bigint AND kind = 'gate');
    WHEN 'open-item' THEN
      INSERT INTO inbox (run_number, run_id, number, kind, stage, opened_at, item)
      VALUES (run, run_name, (c ->> 'number')::bigint, c ->> 'kind', c ->> 'stage', c ->> 'openedAt', c ->> 'item');
    WHEN 'close-item' THEN
      DELETE FROM inbox WHERE run_number = run AND number = (c ->> 'number')::bigint;
    WHEN 'close-items' THEN
      DELETE FROM inbox WHERE run_number = run;
    WHEN 'reserve' THEN
      INSERT INTO spending (run_number, run_id, stage, attempt, agent, runner, model, ticket, day, started_at, reserved_usd,
        reserved_tokens)
      VALUES (run, run_name, c ->> 'stage', (c ->> 'attempt')::bigint, c ->> 'agent', c ->> 'runner', c ->> 'model',
        c ->> 'ticket', c ->> 'day', c ->> 'at', (c ->> 'usd')::bigint, (c ->> 'tokens')::bigint);
    WHEN 'settle' THEN
      INSERT INTO spending AS s (run_number, run_id, stage, attempt, agent, runner, model, told_model, ticket, day, started_at,
        reserved_usd, reserved_tokens, usd, input_tokens, output_tokens, cached_tokens, settled_seq)
      VALUES (run, run_name, c ->> 'stage', (c ->> 'attempt')::bigint, c ->> 'agent', c ->> 'runner', c ->> 'model',
        c ->> 'model', c ->> 'ticket', c ->> 'day', c ->> 'at', 0, 0, (c ->> 'usd')::bigint,
        (c ->> 'inputTokens')::bigint, (c ->> 'outputTokens')::bigint, (c ->> 'cachedTokens')::bigint,
        base + (c ->> 'seq')::bigint)
      ON CONFLICT (run_number, stage, attempt) DO UPDATE SET told_model = excluded.told_model, usd = excluded.usd,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
        cached_tokens = excluded.cached_tokens, settled_seq = excluded.settled_seq;
    END CASE;
  END LOOP;
END $$;

-- Whether the budgets have room; as room.ts in SQLite decides it. Money is in millionths of a dollar. Answers the use that has no room
-- (\`over\`), and the uses that reach the share \`warned\` of their limit (\`near\`).
CREATE FUNCTION room(reservations jsonb, warned float8) RETURNS jsonb
LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  r jsonb;
  l jsonb;
  unit text;
  name text;
  uses jsonb := '{}';
  sums jsonb;
  near jsonb := '[]';
  most bigint;
  used bigint;
  needed bigint;
  use jsonb;
BEGIN
  FOR r IN SELECT value FROM jsonb_array_elements(reservations) LOOP
    FOR l IN SELECT value FROM jsonb_array_elements(r -> 'limits') LOOP
      name := (l ->> 'scope') || ' ' || (l ->> 'key');
      sums := coalesce(uses -> name,
        (SELECT jsonb_build_object('usd', s.usd, 'tokens', s.tokens) FROM spent s WHERE s.scope = l ->> 'scope' AND s.key = l ->> 'key'),
        '{"usd": 0, "tokens": 0}');
      FOREACH unit IN ARRAY ARRAY['usd', 'tokens'] LOOP
        most := (l ->> unit)::bigint;
        CONTINUE WHEN most IS NULL;
        used := (sums ->> unit)::bigint;
        needed := (r ->> unit)::bigint;
        use := jsonb_build_object('scope', l -> 'scope', 'key', l -> 'key', 'unit', unit, 'limit', most);
        IF used + needed > most OR used >= most THEN
          RETURN jsonb_build_object('over', use || jsonb_build_object('stage', r -> 'stage', 'attempt', r -> 'attempt',
            'used', used, 'needed', needed));
        END IF;
        IF used + needed >= most * warned THEN near := near || (use || jsonb_build_object('used', used + needed)); END IF;
      END LOOP;
      uses := uses || jsonb_build_object(name, jsonb_build_object('usd', (sums ->> 'usd')::bigint + (r ->> 'usd')::bigint,
        'tokens', (sums ->> 'tokens')::bigint + (r ->> 'tokens')::bigint));
    END LOOP;
  END LOOP;
  RETURN jsonb_build_object('near', near);
END $$;
`;

type Numbering = {
  readonly takes: string;
  /** Sets `given`: the last numbers, with those of this change. */
  readonly numbers: string;
  /** Further fields of the answer. */
  readonly tells: string;
};

export const commitChange = ({ takes, numbers, tells }: Numbering): string => `
CREATE FUNCTION commit_change(${takes}) RETURNS jsonb
LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
DECLARE
  found_run record;
  given identity%ROWTYPE;
  expected bigint := (job ->> 'expected')::bigint;
  count bigint := jsonb_array_length(job -> 'events');
  run jsonb := job -> 'run';
  own text := job ->> 'runId';
  is_new boolean;
  run_no bigint;
  base bigint;
  budget jsonb := '{}';
  signal_ids text[] := ARRAY(SELECT jsonb_array_elements_text(job -> 'signalIds'));
BEGIN
  SELECT number, version, head INTO found_run FROM runs WHERE id = own;
  is_new := NOT FOUND;
  IF coalesce(found_run.version, 0) <> expected THEN
    -- Asked again, because the answer was lost: stored is what ends with the same hash.
    IF NOT is_new AND (job ->> 'again')::boolean THEN
      SELECT seq INTO base FROM events
      WHERE run_number = found_run.number AND version = expected + count AND hash = job ->> 'head';
      IF FOUND THEN RETURN jsonb_build_object('type', 'ok', 'seq', base); END IF;
    END IF;
    IF EXISTS (SELECT 1 FROM signals WHERE run_number = found_run.number AND signal_id = ANY (signal_ids)) THEN
      RETURN '{"type": "duplicate"}';
    END IF;
    RETURN '{"type": "conflict"}';
  END IF;
  IF EXISTS (SELECT 1 FROM signals WHERE run_number = found_run.number AND signal_id = ANY (signal_ids)) THEN
    RETURN '{"type": "duplicate"}';
  END IF;
  -- The hashes were computed upon another head than the run has, or upon none.
  IF NOT is_new AND found_run.head IS DISTINCT FROM job ->> 'previous' THEN
    RETURN jsonb_build_object('type', 'head', 'head', found_run.head);
  END IF;

${numbers}
  base := given.last_seq - count;
  IF is_new THEN
    run_no := given.last_run;
    INSERT INTO runs (number, id, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head,
      updated_at, updated_seq, state)
    VALUES (run_no, own, run ->> 'flow', run ->> 'flow_hash', run ->> 'subject_id', run ->> 'subject_title',
      run ->> 'created_at', run ->> 'status', run ->> 'word', run ->> 'stage', expected + count, job ->> 'head',
      job ->> 'updatedAt', given.last_seq, job ->> 'state');
  ELSE
    run_no := found_run.number;
    UPDATE runs SET status = run ->> 'status', word = run ->> 'word', stage = run ->> 'stage', version = expected + count,
      head = job ->> 'head', updated_at = job ->> 'updatedAt', updated_seq = given.last_seq, state = job ->> 'state',
      subject_title = CASE WHEN (job ->> 'edited')::boolean THEN run ->> 'subject_title' ELSE subject_title END
    WHERE number = run_no;
  END IF;
  INSERT INTO signals (run_number, signal_id) SELECT run_no, unnest(signal_ids);
  INSERT INTO events (seq, run_number, run_id, version, type, at, actor, body, hash)
  SELECT base + n, run_no, own, expected + n, e ->> 0, e ->> 1, e ->> 2, e ->> 3, e ->> 4
  FROM jsonb_array_elements(job -> 'events') WITH ORDINALITY AS each (e, n);
  PERFORM project(run_no, own, job -> 'changes', base, given.last_handoff - (job ->> 'handoffs')::bigint);
  IF job ? 'reserve' THEN
    -- What the change itself settles makes room before it asks for more.
    budget := room(job -> 'reserve', (job ->> 'warned')::float8);
    -- Caught by \`write\`, which undoes this change alone.
    IF budget ? 'over' THEN RAISE EXCEPTION USING ERRCODE = 'PR001', MESSAGE = (budget -> 'over')::text; END IF;
    PERFORM project(run_no, own, job -> 'reserving', base, 0);
  END IF;
  INSERT INTO work (id, run_id, command)
  SELECT given.last_work - jsonb_array_length(job -> 'work') + n, own, command
  FROM jsonb_array_elements_text(job -> 'work') WITH ORDINALITY AS each (command, n);
  RETURN jsonb_build_object('type', 'ok', 'seq', given.last_seq${tells}) || budget;
END $$;
`;

export const COMMIT_1 =
  PROJECT_1 +
  commitChange({
    takes: "job jsonb",
    numbers: `  UPDATE identity SET last_seq = last_seq + count, last_run = last_run + is_new::integer,
    last_handoff = last_handoff + (job ->> 'handoffs')::bigint, last_work = last_work + jsonb_array_length(job -> 'work')
  RETURNING * INTO given;`,
    tells: "",
  });
