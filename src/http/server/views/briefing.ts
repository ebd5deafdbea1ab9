// The plan of a run, on the wire.

import type { z } from "zod";
import type { Briefing, PlannedStage } from "../../../core/view/briefing.ts";
import type { itemDetailSchema } from "../../contract/schemas/inbox.ts";

type Shown = NonNullable<z.input<typeof itemDetailSchema>["briefing"]>;

export function showBriefing({ stages, files, repositories, ...rest }: Briefing): Shown {
  return {
    ...rest,
    stages: stages.map(showPlanned),
    files: [...files],
    repositories: [...repositories],
  };
}

export function showPlanned(stage: PlannedStage): Shown["stages"][number] {
  return { ...stage, reads: [...stage.reads], produces: [...stage.produces] };
}
