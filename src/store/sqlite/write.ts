// Everything that writes, as functions to be called inside a transaction.

import type { DatabaseSync } from "node:sqlite";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Deletion } from "../store.ts";
import { prepareCommit } from "./commit.ts";
import { prepareDelete } from "./delete.ts";
import { createHeads, type Heads } from "./heads.ts";
import { prepareShapes } from "./shapes.ts";

export type Writes = ReturnType<typeof prepareWrites>;

export function prepareWrites(db: DatabaseSync) {
  const heads = createHeads(db);
  const shapes = prepareShapes(db);
  const deleteRuns = prepareDelete(db);
  const deleteWork = db.prepare("DELETE FROM work WHERE id = ?");
  const insertFlow = db.prepare("INSERT INTO flows (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING");

  function deleteSubject(subjectId: string): Deletion {
    const deletion = deleteRuns(subjectId);
    if (deletion.type === "deleted") for (const runId of deletion.runIds) heads.forget(runId);
    return deletion;
  }

  return {
    begun: heads.begun,
    rolledBack(): void {
      heads.rolledBack();
      shapes.forget();
    },
    lastSeq: heads.lastSeq,
    commit: prepareCommit(db, heads, shapes),
    noteAttempt: prepareNotes(db, heads),
    deleteSubject,
    settleWork: (id: number): void => void deleteWork.run(id),
    saveFlow: (resolved: ResolvedFlow): void => void insertFlow.run(resolved.hash, JSON.stringify(resolved)),
  };
}

function prepareNotes(db: DatabaseSync, heads: Heads) {
  const findFacts = db.prepare(
    "SELECT body AS facts FROM parts WHERE run_number = ? AND kind = 'a' AND name = ? AND number = ?",
  );
  const updateFacts = db.prepare(
    "UPDATE parts SET body = ? WHERE run_number = ? AND kind = 'a' AND name = ? AND number = ?",
  );

  return (runId: string, stage: string, attempt: number, facts: JsonObject): void => {
    const number = heads.numberOf(runId) ?? 0;
    const stored = findFacts.get(number, stage, attempt) as { facts: string } | undefined;
    if (stored === undefined) throw new Error(`run ${runId} has no attempt ${attempt} of stage ${stage}`);
    const merged = { ...(JSON.parse(stored.facts) as JsonObject), ...facts };
    updateFacts.run(JSON.stringify(merged), number, stage, attempt);
  };
}
