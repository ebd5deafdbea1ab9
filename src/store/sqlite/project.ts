// Writes row changes into the projection tables. Used by commits, and by verify to rebuild the rows elsewhere.

import type { DatabaseSync } from "node:sqlite";
import type { RowChange } from "../projections.ts";

export type Project = (run: RunKey, changes: readonly RowChange[]) => void;

type RunKey = { readonly id: string; readonly number: number };

export function prepareProjections(db: DatabaseSync): Project {
  const apply: Appliers<RowChange["type"]> = {
    ...prepareAttempts(db),
    ...prepareHandoffs(db),
    ...prepareItems(db),
    ...prepareSpending(db),
  };
  return (run, changes) => {
    // The table pairs each type with its change; the compiler cannot follow that through a lookup.
    for (const change of changes) (apply[change.type] as (run: RunKey, change: RowChange) => void)(run, change);
  };
}

type Appliers<T extends RowChange["type"]> = {
  readonly [K in T]: (run: RunKey, change: Extract<RowChange, { readonly type: K }>) => void;
};

function prepareAttempts(db: DatabaseSync): Appliers<"open-attempt" | "start-attempt" | "end-attempt"> {
  // A stage made ready again under the same number keeps what was noted about the attempt.
  const openAttempt = db.prepare(`
    INSERT INTO parts (run_number, kind, name, number, track, state, handoff, ready_seq, began_at, started_at, body)
    VALUES (?, 'a', ?, ?, ?, ?, ?, ?, ?, ?, '{}')
    ON CONFLICT DO UPDATE SET track = excluded.track, state = excluded.state, handoff = excluded.handoff,
      ready_seq = excluded.ready_seq, began_at = excluded.began_at, started_at = excluded.started_at,
      ended_at = NULL, outcome_seq = NULL`);
  const startAttempt = db.prepare(`
    UPDATE parts SET state = 'running', started_at = ?
    WHERE run_number = ? AND kind = 'a' AND name = ? AND number = ? AND state = 'ready'`);
  const endAttempt = db.prepare(`
    UPDATE parts SET state = ?, ended_at = ?, outcome_seq = ?
    WHERE run_number = ? AND kind = 'a' AND name = ? AND number = ?`);
  return {
    "open-attempt": ({ number: run }, change) => {
      const { stage, attempt, track, status, handoff, readySeq, readyAt, startedAt } = change;
      openAttempt.run(run, stage, attempt, track, status, handoff, readySeq, readyAt, startedAt);
    },
    "start-attempt": ({ number: run }, { stage, attempt, at }) => void startAttempt.run(at, run, stage, attempt),
    "end-attempt": ({ number: run }, { stage, attempt, status, at, outcomeSeq }) =>
      void endAttempt.run(status, at, outcomeSeq, run, stage, attempt),
  };
}

function prepareHandoffs(
  db: DatabaseSync,
): Appliers<
  | "open-handoff"
  | "accept-handoff"
  | "finish-handoff"
  | "reopen-handoff"
  | "end-handoff"
  | "answer-gate"
  | "withdraw-gate"
> {
  const openHandoff = db.prepare(`
    INSERT INTO parts (run_number, kind, name, number, id, track, from_stage, from_agent, from_attempt, to_stage, to_agent,
      loop, state, began_at, ended_at, body)
    VALUES (?, 'h', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const acceptHandoff = db.prepare(`
    UPDATE parts SET state = 'accepted', ended_at = ?
    WHERE run_number = ? AND kind = 'h' AND name = '' AND number = ? AND state = 'pending'`);
  const finishHandoff = db.prepare(`
    UPDATE parts SET state = 'done', ended_at = coalesce(ended_at, ?4)
    WHERE run_number = ?1 AND kind = 'h' AND name = '' AND state IN ('pending', 'accepted')
      AND number = (SELECT handoff FROM parts WHERE run_number = ?1 AND kind = 'a' AND name = ?2 AND number = ?3)`);
  const reopenHandoff = db.prepare(`
    UPDATE parts SET state = 'accepted'
    WHERE run_number = ?1 AND kind = 'h' AND name = '' AND state = 'done'
      AND number = (SELECT handoff FROM parts WHERE run_number = ?1 AND kind = 'a' AND name = ?2 AND number = ?3)`);
  const endHandoff = db.prepare(`
    UPDATE parts SET state = ?, rejection_reason = ?, ended_at = ?
    WHERE run_number = ? AND kind = 'h' AND name = '' AND number = ?`);
  // Only gates receive without an agent.
  const answerGate = db.prepare(`
    UPDATE parts SET state = 'done', ended_at = ?3
    WHERE run_number = ?1 AND kind = 'h' AND to_stage = ?2 AND to_agent IS NULL AND state = 'pending'`);
  const withdrawGate = db.prepare(`
    UPDATE parts SET state = 'withdrawn', rejection_reason = ?3, ended_at = ?4
    WHERE run_number = ?1 AND kind = 'h' AND to_agent IS NULL AND state = 'pending' AND to_stage = (
      SELECT to_stage FROM parts WHERE run_number = ?1 AND kind = 'i' AND name = '' AND number = ?2 AND state = 'gate')`);
  return {
    "open-handoff": ({ number: run }, change) => {
      const { number, id = null, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop } = change;
      const { state, createdAt, processedAt } = change;
      const added = change.added === undefined ? null : JSON.stringify(change.added);
      // biome-ignore format: the order of the columns in the statement above.
      openHandoff.run(
        run, number, id, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop, state, createdAt, processedAt, added,
      );
    },
    "accept-handoff": ({ number: run }, { number, at }) => void acceptHandoff.run(at, run, number),
    "finish-handoff": ({ number: run }, { stage, attempt, at }) => void finishHandoff.run(run, stage, attempt, at),
    "reopen-handoff": ({ number: run }, { stage, attempt }) => void reopenHandoff.run(run, stage, attempt),
    "end-handoff": ({ number: run }, { number, state, reason, at }) =>
      void endHandoff.run(state, reason, at, run, number),
    "answer-gate": ({ number: run }, { stage, at }) => void answerGate.run(run, stage, at),
    "withdraw-gate": ({ number: run }, { number, reason, at }) => void withdrawGate.run(run, number, reason, at),
  };
}

function prepareItems(db: DatabaseSync): Appliers<"open-item" | "close-item" | "close-items"> {
  const openItem = db.prepare(
    "INSERT INTO parts (run_number, kind, name, number, state, to_stage, began_at, body) VALUES (?, 'i', '', ?, ?, ?, ?, ?)",
  );
  const closeItem = db.prepare("DELETE FROM parts WHERE run_number = ? AND kind = 'i' AND name = '' AND number = ?");
  const closeItems = db.prepare("DELETE FROM parts WHERE run_number = ? AND kind = 'i'");
  return {
    "open-item": ({ number: run }, { item }) =>
      void openItem.run(run, item.number, item.kind, item.stage, item.openedAt, JSON.stringify(item)),
    "close-item": ({ number: run }, { number }) => void closeItem.run(run, number),
    "close-items": ({ number: run }) => void closeItems.run(run),
  };
}

function prepareSpending(db: DatabaseSync): Appliers<"reserve" | "settle"> {
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
  return {
    reserve: ({ id, number: run }, change) => {
      const { stage, attempt, agent, runner, model, ticket, day, at, usd, tokens } = change;
      reserve.run(run, id, stage, attempt, agent, runner, model, ticket, day, at, usd, tokens);
    },
    settle: ({ id, number: run }, change) => {
      const { stage, attempt, agent, runner, model, ticket, day, at } = change;
      const { usd, inputTokens, outputTokens, cachedTokens, seq } = change;
      // biome-ignore format: the order of the values in the statement above.
      settle.run(
        run, id, stage, attempt, agent, runner, model, ticket, day, at, usd, inputTokens, outputTokens, cachedTokens, seq,
      );
    },
  };
}
