// A diff to read and to comment on: the files as a tree, and their lines. It draws only the rows in view and scrolls with the page, because a
// scrolling box inside a page traps fingers on a phone. Agents wrote the text: it is shown as text, with invisible characters made visible.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useTop } from "../ui/use-top.ts";
import { type DiffReview, textOf } from "./comments.ts";
import { DiffRows, withHead } from "./diff-rows.tsx";
import { FileTree } from "./file-tree.tsx";
import { FindingList } from "./finding.tsx";
import { type DiffFinding, pathOf, placeFindings } from "./findings.ts";
import { LayoutChoice } from "./layout-choice.tsx";
import type { FileDiff } from "./parse.ts";
import { isOpen, rowsOf, viewedKey } from "./rows.ts";
import { useDiffKeys } from "./use-diff-keys.ts";
import { useLayout } from "./use-layout.ts";
import { type LoadWhole, useOpenContext } from "./use-open-context.ts";
import { type OnReview, useReview } from "./use-review.ts";

export type DiffViewerProps = {
  readonly files: readonly FileDiff[];
  readonly viewed: ReadonlySet<string>;
  readonly look: (file: FileDiff, is: boolean) => void;
  /** Absent if only the diff itself is there. */
  readonly loadWhole?: LoadWhole;
  /** Findings of agents; shown below the lines they are about. */
  readonly findings?: readonly DiffFinding[];
  readonly review?: DiffReview;
  /** Absent if the diff takes no comments, such as in a run that has ended. */
  readonly onReview?: OnReview;
};

const NOTHING_SAID: DiffReview = { comments: [], writing: null };
const NO_FINDINGS: readonly DiffFinding[] = [];

/** The line number is a button; smaller ones are hard to press. */
const LINE_PX = 24;

export function DiffViewer({
  files: given,
  viewed,
  look,
  loadWhole,
  findings = NO_FINDINGS,
  review = NOTHING_SAID,
  onReview,
}: DiffViewerProps): ReactNode {
  const { comments, writing } = review;
  const { files, open } = useOpenContext(given, loadWhole);
  const [toggled, setToggled] = useState<Readonly<Record<string, boolean>>>({});
  const { layout, isRoomy, choose } = useLayout();
  const found = useMemo(() => placeFindings(files, findings), [files, findings]);
  const canOpen = open !== undefined;
  const rows = useMemo(
    () => rowsOf(files, { toggled, viewed, comments, writing, layout, found, canOpen }),
    [files, toggled, viewed, comments, writing, layout, found, canOpen],
  );
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => (rows[at]?.type === "line" || rows[at]?.type === "pair" ? LINE_PX : 44),
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 15,
    scrollMargin: top,
    rangeExtractor: (range) => withHead(rows, range),
  });
  const goTo = (path: string): void => {
    const at = rows.findIndex((row) => row.type === "file" && row.file.path === path);
    if (at !== -1) virtual.scrollToIndex(at, { align: "start" });
  };
  const mark = (file: FileDiff, is: boolean): void => {
    look(file, is);
    const { [file.path]: _own, ...others } = toggled;
    setToggled(others);
  };
  useDiffKeys({
    list,
    rows,
    virtual,
    viewed,
    look: mark,
    switchLayout: () => isRoomy && choose(layout === "split" ? "unified" : "split"),
  });
  const acts = {
    ...useReview(review, onReview, list),
    current: writing === null ? null : textOf(files, writing),
    toggle: (file: FileDiff) => setToggled({ ...toggled, [file.path]: !isOpen(file, { toggled, viewed }) }),
    look: mark,
    viewed,
    open,
    found: (file: FileDiff) =>
      [...(found.inLines.get(file.path)?.values() ?? [])].reduce((sum, each) => sum + each.length, 0),
  };
  const paths = files.map(({ path }) => path);
  return (
    <div className="@container flex flex-col gap-3">
      <FindingList
        findings={found.elsewhere}
        isInDiff={(file) => pathOf(file, paths) !== undefined}
        goTo={(file) => goTo(pathOf(file, paths) ?? file)}
      />
      <div className="flex min-w-0 flex-col gap-3 @min-[54rem]:grid @min-[54rem]:grid-cols-[15rem_minmax(0,1fr)] @min-[54rem]:items-start">
        <div className="flex min-w-0 items-start justify-between gap-3 @min-[54rem]:sticky @min-[54rem]:top-2 @min-[54rem]:max-h-[calc(100dvh-1rem)] @min-[54rem]:flex-col-reverse @min-[54rem]:justify-end @min-[54rem]:overflow-y-auto">
          <FileTree
            files={files}
            isViewed={(file) => viewed.has(viewedKey(file))}
            said={(file) => comments.filter((comment) => comment.file === file.path).length}
            found={acts.found}
            goTo={goTo}
          />
          {isRoomy && <LayoutChoice layout={layout} choose={choose} />}
        </div>
        <DiffRows list={list} rows={rows} virtual={virtual} acts={acts} />
      </div>
    </div>
  );
}
