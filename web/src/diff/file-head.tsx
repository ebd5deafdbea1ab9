import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Badge } from "../ui/status-badge.tsx";
import { LineCount } from "./line-count.tsx";
import type { FileDiff } from "./parse.ts";
import { ChevronDown, ChevronRight } from "lucide-react";

const CHANGES = {
  changed: "",
  added: "new",
  removed: "removed",
  renamed: "renamed",
  copied: "copied",
  mode: "mode",
} as const satisfies Record<FileDiff["change"], string>;

/** The head of one file in a diff: opens and closes it, and marks it as viewed. */
export function FileHead({
  file,
  isOpen,
  isViewed,
  found,
  toggle,
  look,
}: {
  readonly file: FileDiff;
  readonly isOpen: boolean;
  readonly isViewed: boolean;
  /** The number of agents' findings in it; a closed file hides them. */
  readonly found: number;
  readonly toggle: () => void;
  readonly look: (is: boolean) => void;
}): ReactNode {
  return (
    <div className="flex items-center gap-2 border-y border-line bg-sunken pr-3 font-sans text-sm @max-[34rem]:flex-wrap @max-[34rem]:gap-y-0 @max-[34rem]:pl-8">
      <h3 className="min-w-0 flex-1 @max-[34rem]:-ml-8 @max-[34rem]:basis-full">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          className="flex min-h-10 w-full cursor-pointer items-center gap-2 px-3 py-1.5 text-left font-normal pointer-coarse:min-h-11"
        >
          <span aria-hidden="true" className="w-3 text-muted">
            {isOpen ? <ChevronDown className="size-4" /> : <ChevronRight className="size-4" />}
          </span>
          <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">
            {file.from !== null && (
              <span className="text-muted">
                <SafeText max={400}>{file.from}</SafeText> →{" "}
              </span>
            )}
            <SafeText max={400}>{file.path}</SafeText>
          </span>
          {CHANGES[file.change] !== "" && <span className="text-xs text-muted">{CHANGES[file.change]}</span>}
        </button>
      </h3>
      {found > 0 && (
        <Badge tone="warning">
          {found} {found === 1 ? "finding" : "findings"}
        </Badge>
      )}
      <LineCount added={file.added} removed={file.removed} />
      <label className="flex min-h-9 cursor-pointer items-center gap-1.5 text-xs text-muted pointer-coarse:min-h-11">
        <input
          type="checkbox"
          checked={isViewed}
          onChange={({ target }) => look(target.checked)}
          aria-label={`Viewed ${plain(file.path)}`}
          className="size-4"
        />
        Viewed
      </label>
    </div>
  );
}
