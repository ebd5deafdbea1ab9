// The common part of every row of the list.

export type RowProps = {
  /** The one that is shown beside the list; on a phone none is. */
  readonly selected: string | undefined;
  readonly isWide: boolean;
  readonly onOpen: (id: string) => void;
};

export function rowLook(isShown: boolean): string {
  return `block rounded-md border px-3 py-2 text-ink no-underline pointer-coarse:min-h-11 ${isShown ? "border-ink bg-chosen" : "border-line bg-panel hover:bg-sunken"}`;
}
