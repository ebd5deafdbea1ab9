// Idempotency keys: which request a caller has sent with a key, and how it was answered. To be called inside a transaction. The table is
// bounded by age and by number.

import type { DatabaseSync } from "node:sqlite";
import type { Json } from "../../core/json.ts";
import type { ClaimResult, RequestClaim, RequestKey } from "../store.ts";

const KEPT_AT_MOST = 10_000;
/** Counting the rows takes a while, so it is not done for every claim. */
const CLAIMS_PER_COUNT = 100;

export type Requests = {
  claim(claim: RequestClaim): ClaimResult;
  answer(key: RequestKey, answer: Json): void;
  release(key: RequestKey): void;
};

export function prepareRequests(db: DatabaseSync): Requests {
  // Prepared at the first use: a reader may open a file of version 4, which has no such table.
  let prepared: ReturnType<typeof prepareStatements> | undefined;
  const statements = () => (prepared ??= prepareStatements(db));
  let claims = 0;

  return {
    claim({ caller, key, request, at, forgetBefore }) {
      const { find, forget, insert, trim } = statements();
      forget.run(forgetBefore);
      const known = find.get(caller, key) as Row | undefined;
      if (known !== undefined) return resultOf(known, request);
      insert.run(caller, key, request, at);
      if (++claims % CLAIMS_PER_COUNT === 0) trim.run(KEPT_AT_MOST);
      return { type: "new" };
    },
    answer: ({ caller, key }, answer) => void statements().answer.run(JSON.stringify(answer), caller, key),
    release: ({ caller, key }) => void statements().release.run(caller, key),
  };
}

type Row = { readonly request: string; readonly answer: string | null };

function resultOf(known: Row, request: string): ClaimResult {
  if (known.request !== request) return { type: "reused" };
  if (known.answer === null) return { type: "unanswered" };
  return { type: "answered", answer: JSON.parse(known.answer) as Json };
}

function prepareStatements(db: DatabaseSync) {
  return {
    find: db.prepare("SELECT request, answer FROM requests WHERE caller = ? AND key = ?"),
    insert: db.prepare("INSERT INTO requests (caller, key, request, claimed_at) VALUES (?, ?, ?, ?)"),
    answer: db.prepare("UPDATE requests SET answer = ? WHERE caller = ? AND key = ?"),
    release: db.prepare("DELETE FROM requests WHERE caller = ? AND key = ? AND answer IS NULL"),
    forget: db.prepare("DELETE FROM requests WHERE claimed_at < ?"),
    trim: db.prepare(`
      DELETE FROM requests WHERE (caller, key) IN (
        SELECT caller, key FROM requests ORDER BY claimed_at DESC, caller, key LIMIT -1 OFFSET ?
      )`),
  };
}
