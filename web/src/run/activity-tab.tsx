// The activity of one attempt, as a story or as the raw files. Without one in the address it is the attempt that works, else the last.

import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Choice } from "../ui/choice.tsx";
import { Empty } from "../ui/states.tsx";
import { ActivitySearch } from "./activity/activity-search.tsx";
import { ActivityView } from "./activity/activity-view.tsx";
import { chooseAttempt } from "./choose-attempt.ts";
import type { RunAttempt, RunDetail } from "./types.ts";
import { VerdictCard } from "./verdict-card.tsx";

export function ActivityTab({
  run,
  stage,
  attempt,
}: {
  readonly run: RunDetail;
  readonly stage: string | undefined;
  readonly attempt: string | undefined;
}): ReactNode {
  const attempts = run.stages.flatMap((each) => each.attempts);
  const shown = chooseAttempt(attempts, stage, attempt);
  const wanted = useWantedEvent();
  if (shown === undefined)
    return <Empty title={stage === undefined ? "No agent has worked yet." : `${stage} has not worked yet.`} />;
  return (
    <ActivityView
      key={`${shown.stage} ${shown.attempt} ${wanted ?? ""}`}
      reference={{ run: run.id, stage: shown.stage, attempt: shown.attempt }}
      isWorking={shown.endedAt === null}
      wanted={wanted}
      tools={<Tools run={run} attempts={attempts} shown={shown} />}
      end={shown.endedAt === null ? null : <VerdictCard run={run} attempt={shown} />}
    />
  );
}

function Tools({
  run,
  attempts,
  shown,
}: {
  readonly run: RunDetail;
  readonly attempts: readonly RunAttempt[];
  readonly shown: RunAttempt;
}): ReactNode {
  const navigate = useNavigate();
  const raw = { tab: "log", stage: shown.stage, attempt: String(shown.attempt) };
  return (
    <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
      <div className="min-w-40">
        <Choice
          label="Attempt"
          value={`${shown.stage}#${shown.attempt}`}
          options={attempts.map((each) => ({
            value: `${each.stage}#${each.attempt}`,
            name: `${each.stage} #${each.attempt}${each.word === null ? "" : ` · ${each.word.slice(0, 30)}`}`,
          }))}
          pick={(value) => {
            const [stage = "", attempt = "1"] = value.split("#");
            void navigate({
              to: "/runs/$run",
              params: { run: String(run.number) },
              search: { tab: "activity", stage, attempt },
              hash: "",
              resetScroll: false,
            });
          }}
        />
      </div>
      <ActivitySearch run={run} />
      <Link
        to="/runs/$run"
        params={{ run: String(run.number) }}
        search={raw}
        resetScroll={false}
        className="flex min-h-9 items-center rounded-md border border-line px-3 text-sm text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11"
      >
        Raw
      </Link>
    </div>
  );
}

/** The place that a link names: `#E4096`. */
function useWantedEvent(): number | null {
  const hash = useLocation({ select: ({ hash: now }) => now });
  const found = /^E(0|[1-9][0-9]{0,12})$/.exec(hash);
  return found === null ? null : Number(found[1]);
}
