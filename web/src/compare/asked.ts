// The runs that an address asks to compare.

/** Side by side; more would not be readable. */
export const COMPARED = 4;

/** Numbers or ids with commas between them; anything else in the address is left out. */
export function runsAsked(text: string | undefined): readonly string[] {
  const named = (text ?? "").split(",").map((part) => part.trim());
  return [...new Set(named.filter((part) => /^(r[0-9a-f]{10}|[1-9][0-9]{0,8})$/u.test(part)))].slice(0, COMPARED);
}

type Stat = { readonly path: string; readonly added: number; readonly removed: number };

export type FileRow = {
  readonly path: string;
  /** In the order of the runs; null where the run left the file alone. */
  readonly stats: readonly (Stat | null)[];
};

/** Every file that one of the runs changed; those that all of them changed come first, because there they differ. */
export function filesOf(diffs: readonly (readonly Stat[])[]): readonly FileRow[] {
  const paths = [...new Set(diffs.flatMap((files) => files.map(({ path }) => path)))];
  const rows = paths.map((path) => ({
    path,
    stats: diffs.map((files) => files.find((file) => file.path === path) ?? null),
  }));
  const shared = ({ stats }: FileRow) => stats.filter((stat) => stat !== null).length;
  return rows.toSorted((a, b) => shared(b) - shared(a) || a.path.localeCompare(b.path));
}
