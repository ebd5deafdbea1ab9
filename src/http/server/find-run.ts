// The run of a path, or the refusal that it does not exist.

import { findRun as find, type FoundRun } from "../../app/find-run.ts";
import type { Refusal } from "../contract/problem.ts";
import { err, type Result } from "../../core/result.ts";
import type { Store } from "../../store/store.ts";
import { refusalOf } from "./refusal.ts";

export async function findRun(store: Store, reference: string): Promise<Result<FoundRun, Refusal>> {
  const found = await find(store, reference);
  return found.ok ? found : err(refusalOf(found.error));
}
