import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { clock } from "../ui/time.tsx";
import type { Decided } from "./types.ts";
import { decidedText, nameOf } from "./words.ts";
import { Icon } from "../ui/icon.tsx";

/** A closed item: the decision, the person and the time. */
export function Closed({
  decided,
  detail,
}: {
  readonly decided: Decided | undefined;
  readonly detail: string;
}): ReactNode {
  if (decided === undefined)
    return (
      <p role="status" className="rounded-md border border-line bg-panel p-4">
        <SafeText>{detail}</SafeText>
      </p>
    );
  return (
    <div role="status" className="flex flex-col gap-1 rounded-md border border-line bg-panel p-4">
      <p className="font-medium">
        <Icon name="check" className="mr-1 inline" />
        <SafeText max={4000}>{decidedText(decided)}</SafeText>
      </p>
      <p className="text-sm text-muted">
        by {nameOf(decided.by)}, {clock(decided.at)}
      </p>
      {decided.answer !== "" && decided.text !== "" && (
        <blockquote className="border-l-2 border-line pl-3 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
          <SafeText>{decided.text}</SafeText>
        </blockquote>
      )}
    </div>
  );
}
