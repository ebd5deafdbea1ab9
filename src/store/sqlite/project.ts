// Writes row changes into the projection tables. Used by commits, and by verify to rebuild the rows elsewhere.

import type { DatabaseSync } from "node:sqlite";
import type { RowChange } from "./projections.ts";

export type Project = (run: RunKey, changes: readonly RowChange[]) => void;

type RunKey = { readonly id: string; readonly number: number };

export function prepareProjections(db: DatabaseSync): Project {
  // A stage made ready again under the same number keeps what was noted about the attempt.
  const openAttempt = db.prepare(`
    INSERT INTO attempts (run_number, run_id, stage, attempt, track, status, handoff, ready_seq, ready_at, started_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET track = excluded.track, status = excluded.status, handoff = excluded.handoff,
      ready_seq = excluded.ready_seq, ready_at = excluded.ready_at, started_at = excluded.started_at,
      ended_at = NULL, outcome_seq = NULL`);
  const startAttempt = db.prepare(`
    UPDATE attempts SET status = 'running', started_at = ?
    WHERE run_number = ? AND stage = ? AND attempt = ? AND status = 'ready'`);
  const endAttempt = db.prepare(`
    UPDATE attempts SET status = ?, ended_at = ?, outcome_seq = ?
    WHERE run_number = ? AND stage = ? AND attempt = ?`);
  const openHandoff = db.prepare(`
    INSERT INTO handoffs (run_number, run_id, number, track, from_stage, from_agent, from_attempt, to_stage, to_agent,
      loop, state, created_at, processed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const acceptHandoff = db.prepare(`
    UPDATE handoffs SET state = 'accepted', processed_at = ?
    WHERE run_number = ? AND number = ? AND state = 'pending'`);
  const finishHandoff = db.prepare(`
    UPDATE handoffs SET state = 'done', processed_at = coalesce(processed_at, ?4)
    WHERE run_number = ?1 AND state IN ('pending', 'accepted')
      AND number = (SELECT handoff FROM attempts WHERE run_number = ?1 AND stage = ?2 AND attempt = ?3)`);
  const reopenHandoff = db.prepare(`
    UPDATE handoffs SET state = 'accepted'
    WHERE run_number = ?1 AND state = 'done'
      AND number = (SELECT handoff FROM attempts WHERE run_number = ?1 AND stage = ?2 AND attempt = ?3)`);
  const endHandoff = db.prepare(`
    UPDATE handoffs SET state = ?, rejection_reason = ?, processed_at = ?
    WHERE run_number = ? AND number = ?`);
  // Only gates receive without an agent.
  const answerGate = db.prepare(`
    UPDATE handoffs SET state = 'done', processed_at = ?3
    WHERE run_number = ?1 AND to_stage = ?2 AND to_agent IS NULL AND state = 'pending'`);
  const withdrawGate = db.prepare(`
    UPDATE handoffs SET state = 'withdrawn', rejection_reason = ?3, processed_at = ?4
    WHERE run_number = ?1 AND to_agent IS NULL AND state = 'pending'
      AND to_stage = (SELECT stage FROM inbox WHERE run_number = ?1 AND number = ?2 AND kind = 'gate')`);
  const openItem = db.prepare(
    "INSERT INTO inbox (run_number, run_id, number, kind, stage, opened_at, item) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const closeItem = db.prepare("DELETE FROM inbox WHERE run_number = ? AND number = ?");
  const reserve = db.prepare(`
    INSERT INTO spending (run_number, run_id, stage, attempt, agent, runner, model, ticket, day, started_at, reserved_usd,
      reserved_tokens)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  // Day and ticket stay those of the start, and the model the one that was asked for: the history of an agent is kept by it.
  const settle = db.prepare(`
    INSERT INTO spending (run_number, run_id, stage, attempt, agent, runner, model, told_model, ticket, day, started_at,
      reserved_usd, reserved_tokens, usd, input_tokens, output_tokens, cached_tokens, settled_seq)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, 0, 0, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT DO UPDATE SET told_model = excluded.told_model, usd = excluded.usd, input_tokens = excluded.input_tokens,
      output_tokens = excluded.output_tokens, cached_tokens = excluded.cached_tokens, settled_seq = excluded.settled_seq`);
  const closeItems = db.prepare("DELETE FROM inbox WHERE run_number = ?");

  function apply({ id, number: run }: RunKey, change: RowChange): void {
    switch (change.type) {
      case "open-attempt": {
        const { stage, attempt, track, status, handoff, readySeq, readyAt, startedAt } = change;
        openAttempt.run(run, id, stage, attempt, track, status, handoff, readySeq, readyAt, startedAt);
        return;
      }
      case "start-attempt":
        startAttempt.run(change.at, run, change.stage, change.attempt);
        return;
      case "end-attempt":
        endAttempt.run(change.status, change.at, change.outcomeSeq, run, change.stage, change.attempt);
        return;
      case "open-handoff": {
        const { number, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop } = change;
        const { state, createdAt, processedAt } = change;
        // biome-ignore format: the order of the columns in the statement above.
        openHandoff.run(
          run, id, number, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop, state, createdAt, processedAt,
        );
        return;
      }
      case "accept-handoff":
        acceptHandoff.run(change.at, run, change.number);
        return;
      case "finish-handoff":
        finishHandoff.run(run, change.stage, change.attempt, change.at);
        return;
      case "reopen-handoff":
        reopenHandoff.run(run, change.stage, change.attempt);
        return;
      case "end-handoff":
        endHandoff.run(change.state, change.reason, change.at, run, change.number);
        return;
      case "answer-gate":
        answerGate.run(run, change.stage, change.at);
        return;
      case "withdraw-gate":
        withdrawGate.run(run, change.number, change.reason, change.at);
        return;
      case "open-item": {
        const { item } = change;
        openItem.run(run, id, item.number, item.kind, item.stage, item.openedAt, JSON.stringify(item));
        return;
      }
      case "close-item":
        closeItem.run(run, change.number);
        return;
      case "close-items":
        closeItems.run(run);
        return;
      case "reserve": {
        const { stage, attempt, agent, runner, model, ticket, day, at, usd, tokens } = change;
        reserve.run(run, id, stage, attempt, agent, runner, model, ticket, day, at, usd, tokens);
        return;
      }
      case "settle": {
        const { stage, attempt, agent, runner, model, ticket, day, at } = change;
        const { usd, inputTokens, outputTokens, cachedTokens, seq } = change;
        // biome-ignore format: the order of the values in the statement above.
        settle.run(
          run, id, stage, attempt, agent, runner, model, ticket, day, at, usd, inputTokens, outputTokens, cachedTokens, seq,
        );
        return;
      }
    }
  }

  return (run, changes) => {
    for (const change of changes) apply(run, change);
  };
}
