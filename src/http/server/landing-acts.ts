// The acts on the finished work of a run, on the engine and the settings of this process.

import type { Delivering } from "../../app/deliver.ts";
import type { StartPlace } from "../../app/start-run/start-run.ts";
import { discardWork } from "../../ticket/land/discard.ts";
import { planLanding } from "../../ticket/land/finished.ts";
import { checkMerge, markMerged } from "../../ticket/land/mark-merged.ts";
import type { LandingActs } from "./deps.ts";

type Place = Delivering &
  Pick<StartPlace, "home" | "settings"> & { readonly environment: Readonly<Record<string, string | undefined>> };

export function landingActs(place: Place): LandingActs {
  return {
    plan: (work, kept, choice) => planLanding(place, work, kept, choice),
    discard: (run, commit, by) => discardWork(place, run, commit, by),
    async confirm(waiting, claim, by) {
      const seen = await checkMerge(place, waiting, claim);
      return seen.ok ? markMerged(place.engine, waiting, seen.value, by) : seen;
    },
  };
}
