import { UnfoldVertical } from "lucide-react";
import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { STEP } from "./context.ts";
import type { FileDiff } from "./parse.ts";

const BUTTON =
  "inline-flex min-h-6 shrink-0 cursor-pointer items-center gap-1 rounded px-1.5 font-sans hover:bg-chosen hover:text-ink pointer-coarse:min-h-11";

/** The lines that the diff leaves out, and the buttons that show some or all of them. */
export function Gap({
  file,
  gap,
  hidden,
  head,
  open,
}: {
  readonly file: FileDiff;
  readonly gap: number;
  readonly hidden: number | null;
  readonly head: string;
  readonly open: ((file: FileDiff, gap: number, lines: number) => void) | undefined;
}): ReactNode {
  const isBelow = gap === file.gaps;
  const where = isBelow ? "below the last change" : `above change ${gap + 1}`;
  const some = hidden === null || hidden > STEP ? STEP : hidden;
  return (
    <div className="flex min-w-0 items-center gap-1 bg-sunken px-2 text-muted">
      {open !== undefined && hidden !== 0 && (
        <>
          <button
            type="button"
            aria-label={`Show ${some} lines ${where}`}
            onClick={() => open(file, gap, some)}
            className={BUTTON}
          >
            <UnfoldVertical aria-hidden="true" className="size-3.5" />
            Show {some} {some === 1 ? "line" : "lines"}
          </button>
          {hidden !== null && hidden > STEP && (
            <button
              type="button"
              aria-label={`Show all ${hidden} lines ${where}`}
              onClick={() => open(file, gap, hidden)}
              className={BUTTON}
            >
              all {hidden.toLocaleString("en-US")}
            </button>
          )}
        </>
      )}
      {open === undefined && hidden !== null && hidden > 0 && (
        <span className="shrink-0 px-1.5 font-sans">
          {hidden.toLocaleString("en-US")} {hidden === 1 ? "line" : "lines"} not shown
        </span>
      )}
      <span className="min-w-0 truncate">
        <SafeText max={300}>{head}</SafeText>
      </span>
    </div>
  );
}
