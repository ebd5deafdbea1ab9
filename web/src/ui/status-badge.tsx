// A state as a badge: icon, word and tone together.

import type { ReactNode } from "react";
import { SHOWN, type ShownName, type Tone } from "../base/status.ts";
import { Icon } from "./icon.tsx";
import { tip } from "./tip.ts";

export const TONES: Readonly<Record<Tone, string>> = {
  quiet: "bg-quiet-soft text-quiet",
  active: "bg-active-soft text-active",
  attention: "bg-attention-soft text-attention",
  warning: "bg-warning-soft text-warning",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  held: "bg-held-soft text-held",
};

export function StatusBadge({ is, detail }: { readonly is: ShownName; readonly detail?: string }): ReactNode {
  const { word, icon, tone } = SHOWN[is];
  return (
    <Badge tone={tone}>
      <Icon name={icon} />
      {word}
      {detail !== undefined && <span className="font-normal">· {detail}</span>}
    </Badge>
  );
}

export function Badge({
  tone = "quiet",
  children,
  title,
  wraps = false,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly title?: string;
  /** A sentence rather than a word: it may take two lines. */
  readonly wraps?: boolean;
}): ReactNode {
  return (
    <span
      {...tip(title)}
      className={`inline-flex max-w-full items-center gap-1.5 px-2 py-0.5 text-xs font-medium ${wraps ? "rounded-xl" : "rounded-full whitespace-nowrap"} ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
