// The agents of a story in a row, each with its state as icon, word and colour. On a phone they are in a column.

import { Fragment, type ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { type AgentMark, INDICATORS } from "./picture.ts";
import { Icon } from "../ui/icon.tsx";

export function StoryPicture({
  marks,
  phase,
}: {
  readonly marks: readonly AgentMark[];
  readonly phase: string | null;
}): ReactNode {
  const done = marks.filter(({ is }) => is === "done").length;
  const active = marks.find(({ is }) => is === "active");
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2 text-sm">
        <p role="status">
          {active !== undefined ? (
            <>
              Now: <strong className="font-semibold">{plain(active.agent, 60)}</strong>
              {phase !== null && <> · {plain(phase, 60)}</>}
              {active.attempts > 1 && <> · attempt {active.attempts}</>}
            </>
          ) : done === marks.length ? (
            <>{phase === null ? "Complete" : plain(phase, 60)}</>
          ) : (
            "No agent is working."
          )}
        </p>
        <label className="flex items-center gap-2 text-muted">
          {done} of {marks.length} done
          <progress
            value={done}
            max={marks.length}
            className="h-2 w-28 appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-good [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-good"
          />
        </label>
      </div>
      <ol aria-label="Agents" className="flex gap-1 max-md:flex-col md:items-stretch">
        {marks.map((mark, index) => (
          <Fragment key={mark.agent}>
            {index > 0 && (
              <li aria-hidden="true" className="self-center text-muted max-md:rotate-90">
                →
              </li>
            )}
            <Agent mark={mark} />
          </Fragment>
        ))}
      </ol>
    </div>
  );
}

function Agent({ mark: { agent, is, attempts, reason, isUntaken } }: { readonly mark: AgentMark }): ReactNode {
  const { icon, word, look } = INDICATORS[is];
  return (
    <li
      {...(is === "active" ? { "aria-current": "step" as const } : {})}
      data-agent={plain(agent, 60)}
      data-is={is}
      className={`flex min-w-0 flex-1 flex-col gap-1 rounded-lg border px-3 py-2 text-sm ${look}`}
    >
      <span className="flex items-center gap-2 font-medium">
        <span className={`rounded-full ${is === "active" ? "pulse" : ""}`}>
          <Icon name={icon} className="[animation:none]" />
        </span>
        <span className="truncate">
          <SafeText max={60}>{agent}</SafeText>
        </span>
      </span>
      <span className="text-xs">
        {isUntaken ? "Handed over, not accepted yet" : word}
        {attempts > 1 && <> · attempt {attempts}</>}
      </span>
      {reason !== null && reason !== "" && (
        <span className="line-clamp-3 text-xs break-words">
          <SafeText max={300}>{reason}</SafeText>
        </span>
      )}
    </li>
  );
}
