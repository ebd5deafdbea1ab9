import { type ReactNode, useState } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { LineCount } from "./file-head.tsx";
import type { FileDiff } from "./parse.ts";
import { Icon } from "../ui/icon.tsx";

const SHOWN_AT_MOST = 100;

/** The files of a diff with their line counts; a click scrolls there. A long list shows the first files and has a filter. */
export function FileList({
  files,
  isViewed,
  goTo,
}: {
  readonly files: readonly FileDiff[];
  readonly isViewed: (file: FileDiff) => boolean;
  readonly goTo: (path: string) => void;
}): ReactNode {
  const [filter, setFilter] = useState("");
  const found = files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()));
  const seen = files.filter(isViewed).length;
  return (
    <details open={files.length <= 12} className="min-w-0 flex-1 text-sm">
      <summary className="min-h-9 cursor-pointer py-1.5 pointer-coarse:min-h-11">
        {files.length} {files.length === 1 ? "file" : "files"}
        {seen > 0 && <span className="text-muted"> · {seen} viewed</span>}
      </summary>
      {files.length > 12 && (
        <input
          type="search"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
          placeholder="Find a file"
          aria-label="Find a file"
          className="my-1 min-h-9 w-full max-w-sm rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
        />
      )}
      <ul>
        {found.slice(0, SHOWN_AT_MOST).map((file) => (
          <li key={file.path}>
            <button
              type="button"
              onClick={() => goTo(file.path)}
              className="flex min-h-7 w-full cursor-pointer items-center gap-2 rounded px-1 text-left hover:bg-sunken pointer-coarse:min-h-11"
            >
              <span className="w-4 text-good">
                {isViewed(file) && (
                  <>
                    <Icon name="check" />
                    <span className="sr-only">viewed</span>
                  </>
                )}
              </span>
              <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
                <SafeText max={400}>{file.path}</SafeText>
              </span>
              <LineCount added={file.added} removed={file.removed} />
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_AT_MOST && (
        <p className="p-1 text-muted">… and {found.length - SHOWN_AT_MOST} more. Use the filter to find them.</p>
      )}
    </details>
  );
}
