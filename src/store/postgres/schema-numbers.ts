// Version 5: the numbers of a call are written once, at its end. Before, each of the hundred commits that share a transaction left a version of
// the row of `identity` that nothing can remove until the transaction ends. The table grew to hundreds of pages, every call read all of them
// again, and a handoff in a large store cost half as much again as in a small one.

import { commitChange } from "./schema-commit.ts";

export const NUMBERS_5 = `
DROP FUNCTION commit_change(jsonb);
${commitChange({
  takes: "job jsonb, known identity",
  numbers: `  given := known;
  given.last_seq := known.last_seq + count;
  given.last_run := known.last_run + is_new::integer;
  given.last_handoff := known.last_handoff + (job ->> 'handoffs')::bigint;
  given.last_work := known.last_work + jsonb_array_length(job -> 'work');`,
  tells: ", 'given', to_jsonb(given)",
})}
CREATE OR REPLACE FUNCTION perform_job(job jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  CASE job ->> 'type'
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

-- By their keys: what the planner knows about a small table is old as soon as the table is not small any more.
CREATE OR REPLACE FUNCTION write(jobs jsonb, told_incarnation text, owner bigint) RETURNS jsonb
LANGUAGE plpgsql SET search_path = passrail, pg_temp SET lock_timeout = '15s' SET enable_seqscan = off AS $$
DECLARE
  known identity%ROWTYPE;
  before bigint;
  job jsonb;
  answer jsonb;
  answers jsonb[] := '{}';
BEGIN
  SELECT * INTO known FROM identity WHERE single = 1 FOR UPDATE;
  IF known.incarnation <> told_incarnation THEN RETURN '{"fenced": "content"}'; END IF;
  IF known.epoch <> owner THEN RETURN '{"fenced": "owner"}'; END IF;
  before := known.last_seq;
  FOR job IN SELECT value FROM jsonb_array_elements(jobs) LOOP
    BEGIN
      IF job ->> 'type' = 'commit' THEN
        answer := commit_change(job, known);
        IF answer ? 'given' THEN
          known := jsonb_populate_record(known, answer -> 'given');
          answer := answer - 'given';
        END IF;
      ELSE
        answer := perform_job(job);
      END IF;
    EXCEPTION
      WHEN SQLSTATE 'PR001' THEN answer := jsonb_build_object('type', 'over_budget', 'over', SQLERRM::jsonb);
      WHEN OTHERS THEN
        -- The machine is the reason, not this job: nobody is served.
        IF SQLSTATE ~ '^(08|40|53|55|57|58|XX)' THEN RAISE; END IF;
        answer := jsonb_build_object('error', SQLERRM, 'code', SQLSTATE);
    END;
    answers := answers || answer;
  END LOOP;
  IF known.last_seq > before THEN
    UPDATE identity SET last_seq = known.last_seq, last_run = known.last_run, last_handoff = known.last_handoff,
      last_work = known.last_work
    WHERE single = 1;
  END IF;
  RETURN jsonb_build_object('before', before, 'after', known.last_seq, 'answers', to_jsonb(answers));
END $$;
-- Rewrites the table without the versions that it has collected.
CLUSTER identity USING identity_pkey;
`;
