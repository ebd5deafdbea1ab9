// Check boxes of a Markdown file: `- [ ] text` is open, `- [x] text` is done. Boxes inside a fence are examples.

export type CheckBox = {
  /** Its line, from 0. */
  readonly line: number;
  readonly isDone: boolean;
  readonly text: string;
};

const BOX = /^[ \t]{0,20}[-*+] \[([ xX])\][ \t]+(\S.*)$/u;
const TEXT_CHARS = 2000;

export function checkBoxes(text: string): readonly CheckBox[] {
  let fence: string | undefined;
  return text.split("\n").flatMap((raw, line) => {
    const mark = /^[ \t]{0,3}(`{3,}|~{3,})/u.exec(raw)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return [];
    }
    if (fence !== undefined || raw.length > TEXT_CHARS * 2) return [];
    const found = BOX.exec(raw.replace(/\r$/u, ""));
    if (found === null) return [];
    return [{ line, isDone: found[1] !== " ", text: (found[2] ?? "").trim().slice(0, TEXT_CHARS) }];
  });
}

/** The same text with the first open box of these words checked; unchanged if there is none. */
export function checkOff(text: string, words: string): string {
  const box = checkBoxes(text).find(({ isDone, text: own }) => !isDone && own === words);
  if (box === undefined) return text;
  const lines = text.split("\n");
  lines[box.line] = (lines[box.line] ?? "").replace("[ ]", "[x]");
  return lines.join("\n");
}
