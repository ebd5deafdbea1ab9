// The icons of states and acts. They are always beside words, so screen readers skip them.

import {
  Ban,
  Check,
  Circle,
  CircleArrowUp,
  CircleQuestionMark,
  CircleUser,
  Clock,
  Coins,
  GitMerge,
  Hourglass,
  ListChecks,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
  Pause,
  Play,
  TriangleAlert,
  Undo2,
  UserCheck,
  X,
} from "lucide-react";
import type { ReactNode } from "react";
import type { IconName } from "../base/status.ts";

const ICONS: Readonly<Record<IconName, LucideIcon>> = {
  back: Undo2,
  budget: Coins,
  check: Check,
  choice: ListChecks,
  circle: Circle,
  clock: Clock,
  cross: X,
  ended: Ban,
  escalated: CircleArrowUp,
  gate: UserCheck,
  hourglass: Hourglass,
  merge: GitMerge,
  paused: Pause,
  person: CircleUser,
  question: CircleQuestionMark,
  start: Play,
  stopped: OctagonX,
  warning: TriangleAlert,
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
