// Whether a carrier is at work, for those who only look.

import type { CarriedPlace, CarrierIdentity } from "../attempt/carriers.ts";
import { attemptFiles } from "../attempt/attempt-files.ts";
import { isAlive } from "../runner/process/process-table.ts";
import { hasReport } from "./report-file.ts";

/** A process that has written its report is about to exit. */
export function isAtWork(home: string, identity: CarrierIdentity, place: CarriedPlace): boolean {
  const { dir } = attemptFiles(home, place.runId, place.stage, place.attempt);
  return isAlive(identity) && !hasReport(home, dir, identity.id);
}
