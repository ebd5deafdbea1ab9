// A story: its agents with their state, and every handoff between them.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { storyQuery } from "../base/queries.ts";
import { useLiveState } from "../base/live/live.ts";
import { Panel } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Handoffs } from "./handoffs.tsx";
import { type StoryAgents, storyPicture } from "./picture.ts";
import { StoryPicture } from "./story-picture.tsx";
import { Icon } from "../ui/icon.tsx";

type Props = {
  readonly id: string;
  readonly agents: StoryAgents;
  /** The handoff in the address, whose payload is shown. */
  readonly handoff: string | undefined;
};

export function Story({ id, agents, handoff }: Props): ReactNode {
  const { data, error, refetch } = useQuery(storyQuery(id));
  const live = useLiveState();
  const isOffline = live.is === "reconnecting" || live.is === "refused";
  const retry = (): void => void refetch();
  if (data === undefined || !("handoffs" in data))
    return (
      <Panel title="Story">
        {error === null ? <Loading what="the story" /> : <Failure error={error} retry={retry} />}
      </Panel>
    );
  const marks = storyPicture(agents, data.handoffs, data.currentAgent);
  return (
    <>
      <Panel title="Story">
        <div className="flex flex-col gap-3">
          {isOffline && (
            <p role="status" className="text-sm text-attention">
              <Icon name="clock" className="mr-1 inline" />
              The daemon cannot be reached. This is the last known state of the story.
            </p>
          )}
          {error !== null && <Failure error={error} retry={retry} />}
          <StoryPicture marks={marks} phase={data.phase} />
        </div>
      </Panel>
      <Panel title={`Handoffs · ${data.handoffs.length}`}>
        {data.handoffs.length === 0 ? (
          <Empty title="No handoffs yet.">
            <p>The first handoff appears when the story starts.</p>
          </Empty>
        ) : (
          <Handoffs rows={data.handoffs} entry={agents.entry} shown={handoff} />
        )}
      </Panel>
    </>
  );
}
