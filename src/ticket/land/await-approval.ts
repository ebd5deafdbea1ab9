// Runs whose work may not leave, because the approval of their project's files was withdrawn, wait with a question. When a person approves the
// files again, this answers it in that person's name, and the run continues.

import type { AnswerRules } from "../../app/offered.ts";
import { approverOf, withdrawnTrust } from "../../app/trust/withdrawn.ts";
import type { UseCases } from "../../app/use-cases.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Report } from "../../core/flow/outcome.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import { MAIN_TRACK } from "../../core/flow/flow.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { InboxRecord, Store } from "../../store/store.ts";
import { createPoll } from "../poll.ts";

type ApprovalWatchOptions = {
  /** Of this process. */
  readonly place: TrustPlace;
  readonly store: Pick<Store, "inbox" | "loadRun" | "loadFlow" | "attempts">;
  readonly app: Pick<UseCases, "answerItem">;
  readonly onProblem: (runId: string | null, error: unknown) => void;
};

export type ApprovalWatch = { close(): Promise<void> };

const LOOK_MS = 1000;
/** The approval itself is the decision; the answer only says so. */
const RULES: AnswerRules = { needsReason: false, maxChars: null };
const WAITS: JsonObject = { waitsFor: "approval" };

/** The report of a builtin that must not act before the files are approved. */
export function waitForApproval(reason: string): Report {
  return { asked: true, questions: [reason], payload: WAITS };
}

export function openApprovalWatch({ place, store, app, onProblem }: ApprovalWatchOptions): ApprovalWatch {
  const isOurs = new Map<string, boolean>();
  const poll = createPoll({ task: look, pauseMs: () => LOOK_MS, onError: (error) => onProblem(null, error) });
  poll.start(0);
  return { close: () => poll.stop() };

  async function look(): Promise<void> {
    const questions = (await store.inbox()).filter(({ item }) => item.kind === "question");
    const open = new Set(questions.map(keyOf));
    for (const key of isOurs.keys()) if (!open.has(key)) isOurs.delete(key);
    for (const record of questions) {
      if (isOurs.get(keyOf(record)) === false) continue;
      const run = (await store.loadRun(record.runId))?.run;
      if (run === undefined) continue;
      isOurs.set(keyOf(record), await waits(store, run, record));
      if (isOurs.get(keyOf(record)) === true) await answer(run, record);
    }
  }

  async function answer(run: Run, record: InboxRecord): Promise<void> {
    if (withdrawnTrust(place, run) !== undefined) return;
    const actor = approverOf(place, run);
    if (actor === undefined) return;
    const given = { answer: "", text: "The project's files are approved.", issues: [] };
    const item = keyOf(record);
    const request = { ...given, item, seen: { type: "anything" }, rules: RULES } as const;
    const answered = await app.answerItem(request, { actor, key: `approved:${record.item.number}` });
    if (!answered.ok) onProblem(run.id, new Error(answered.error.message));
  }
}

/** Only a builtin's own report counts: an agent may ask what it likes. */
async function waits(store: ApprovalWatchOptions["store"], run: Run, { item }: InboxRecord): Promise<boolean> {
  const { flow } = await flowOf(store, run);
  if (findWork(flow, run, MAIN_TRACK, item.stage)?.kind !== "builtin") return false;
  const last = (await store.attempts(run.id)).findLast(({ stage }) => stage === item.stage);
  const payload = last?.outcome?.["payload"];
  return typeof payload === "object" && payload !== null && "waitsFor" in payload;
}

function keyOf({ runId, item }: InboxRecord): string {
  return `${runId}.${item.number}`;
}
