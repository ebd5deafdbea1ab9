// Lines that a person opened around the changes. The file is read once, when the first of them is wanted.

import { useCallback, useMemo, useState } from "react";
import { toast } from "../ui/toast.ts";
import { type OpenContext, withContext } from "./context.ts";
import type { DiffLine, FileDiff } from "./parse.ts";

/** Every line of a file. */
export type LoadWhole = (file: FileDiff) => Promise<readonly DiffLine[]>;

export function useOpenContext(
  files: readonly FileDiff[],
  load: LoadWhole | undefined,
): {
  readonly files: readonly FileDiff[];
  readonly open: ((file: FileDiff, gap: number, lines: number) => void) | undefined;
} {
  /** Of another diff nothing is open. */
  const [kept, setKept] = useState<{ readonly of: unknown; readonly opened: Readonly<Record<string, OpenContext>> }>({
    of: files,
    opened: {},
  });
  const opened = kept.of === files ? kept.opened : NOTHING;
  const shown = useMemo(() => files.map((file) => withContext(file, opened[file.path])), [files, opened]);
  const open = useCallback(
    (file: FileDiff, gap: number, lines: number): void => {
      const add = (whole: readonly DiffLine[]): void =>
        setKept((now) => {
          const before = now.of === files ? now.opened : NOTHING;
          const gaps = before[file.path]?.gaps ?? {};
          const more = { whole, gaps: { ...gaps, [gap]: (gaps[gap] ?? 0) + lines } };
          return { of: files, opened: { ...before, [file.path]: more } };
        });
      const known = opened[file.path];
      if (known !== undefined) add(known.whole);
      else load?.(file).then(add, (error: unknown) => toast(error instanceof Error ? error.message : WRONG, "bad"));
    },
    [files, load, opened],
  );
  return { files: shown, open: load === undefined ? undefined : open };
}

const NOTHING: Readonly<Record<string, OpenContext>> = {};
const WRONG = "The lines could not be read.";
