// The files of a diff as a tree, with what is known of each; a click scrolls there. A long one has a filter.

import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { plain } from "../base/plain-text.ts";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { LineCount } from "./line-count.tsx";
import type { FileDiff } from "./parse.ts";
import { type TreeRow, treeRows } from "./tree.ts";
import { tip } from "../ui/tip.ts";
import { MessageSquare } from "lucide-react";

const SHOWN_AT_MOST = 200;
/** With more it is closed at first, and has a filter. */
const FEW = 12;
const DEEPEST = 6;

export type FileTreeProps = {
  readonly files: readonly FileDiff[];
  readonly isViewed: (file: FileDiff) => boolean;
  /** The number of this person's comments. */
  readonly said: (file: FileDiff) => number;
  /** The number of agents' findings. */
  readonly found: (file: FileDiff) => number;
  readonly goTo: (path: string) => void;
};

export function FileTree(props: FileTreeProps): ReactNode {
  const { files, isViewed } = props;
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const wanted = filter.toLowerCase();
  const named = files.filter(({ path }) => path.toLowerCase().includes(wanted));
  const rows = treeRows(named, wanted === "" ? closed : new Set());
  const seen = files.filter(isViewed).length;
  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  return (
    <details open={files.length > 1 && files.length <= FEW} className="w-full min-w-0 flex-1 text-sm">
      <summary className="min-h-9 cursor-pointer py-1.5 pointer-coarse:min-h-11">
        {files.length} {files.length === 1 ? "file" : "files"}
        {seen > 0 && <span className="text-muted"> · {seen} viewed</span>}
      </summary>
      {files.length > FEW && (
        <input
          type="search"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
          placeholder="Find a file"
          aria-label="Find a file"
          className="my-1 min-h-9 w-full max-w-sm rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
        />
      )}
      <ul aria-label="Files">
        {rows.slice(0, SHOWN_AT_MOST).map((row) => (
          <li key={row.type === "file" ? row.file.path : row.path}>
            {row.type === "file" ? (
              <FileRow {...props} row={row} />
            ) : (
              <FolderRow row={row} isOpen={!closed.has(row.path)} toggle={() => toggle(row.path)} />
            )}
          </li>
        ))}
      </ul>
      {rows.length > SHOWN_AT_MOST && (
        <p className="p-1 text-muted">… and {rows.length - SHOWN_AT_MOST} more. Use the filter to find them.</p>
      )}
    </details>
  );
}

const ROW =
  "flex min-h-7 w-full min-w-0 cursor-pointer items-center gap-1.5 rounded px-1 text-left hover:bg-sunken pointer-coarse:min-h-11";

function indent(depth: number): { readonly paddingLeft: string } {
  return { paddingLeft: `${0.25 + Math.min(depth, DEEPEST) * 0.75}rem` };
}

function FolderRow({
  row: { name, depth },
  isOpen,
  toggle,
}: {
  readonly row: TreeRow & { type: "folder" };
  readonly isOpen: boolean;
  readonly toggle: () => void;
}): ReactNode {
  return (
    <button type="button" aria-expanded={isOpen} onClick={toggle} className={ROW} style={indent(depth)}>
      {isOpen ? (
        <ChevronDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
      ) : (
        <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-muted" />
      )}
      <span className="min-w-0 font-mono text-xs text-muted [overflow-wrap:anywhere]">
        <SafeText max={400}>{name}</SafeText>
      </span>
    </button>
  );
}

function FileRow({
  row: { file, name, depth },
  isViewed,
  said,
  found,
  goTo,
}: FileTreeProps & { readonly row: TreeRow & { type: "file" } }): ReactNode {
  const [comments, findings] = [said(file), found(file)];
  return (
    <button
      type="button"
      {...tip(plain(file.path, 400))}
      onClick={() => goTo(file.path)}
      className={ROW}
      style={indent(depth)}
    >
      <span className="w-4 shrink-0 text-good">
        {isViewed(file) && (
          <>
            <Icon name="check" />
            <span className="sr-only">viewed</span>
          </>
        )}
      </span>
      <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
        <SafeText max={400}>{name}</SafeText>
      </span>
      {comments > 0 && <Count tone="text-attention" count={comments} what="comment" />}
      {findings > 0 && <Count tone="text-warning" count={findings} what="finding" />}
      <LineCount added={file.added} removed={file.removed} />
    </button>
  );
}

function Count({ tone, count, what }: { readonly tone: string; readonly count: number; readonly what: string }) {
  const words = `${count} ${what}${count === 1 ? "" : "s"}`;
  return (
    <span {...tip(words)} className={`tabular shrink-0 text-xs font-medium ${tone}`}>
      <span aria-hidden="true">
        {count}
        {what === "comment" ? <MessageSquare className="ml-0.5 inline size-3" /> : "!"}
      </span>
      <span className="sr-only">{words}</span>
    </span>
  );
}
