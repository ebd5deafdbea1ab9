// The icons of states and acts. They stand beside words and say nothing alone, so screen readers skip them.

import {
  Ban,
  Check,
  Circle,
  CircleArrowUp,
  CircleUser,
  Clock,
  GitMerge,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  Pause,
  Play,
  Undo2,
  X,
} from "lucide-react";
import type { ReactNode } from "react";
import type { IconName } from "../base/status.ts";

const ICONS: Readonly<Record<IconName, LucideIcon>> = {
  back: Undo2,
  check: Check,
  circle: Circle,
  clock: Clock,
  cross: X,
  ended: Ban,
  escalated: CircleArrowUp,
  hourglass: Hourglass,
  merge: GitMerge,
  paused: Pause,
  person: CircleUser,
  start: Play,
  working: LoaderCircle,
};

/** As large as the text beside it. */
export function Icon({ name, className = "" }: { readonly name: IconName; readonly className?: string }): ReactNode {
  const Drawn = ICONS[name];
  return (
    <Drawn
      aria-hidden="true"
      strokeWidth={2.25}
      className={`size-[1.1em] shrink-0 ${name === "working" ? "turning" : ""} ${className}`}
    />
  );
}
