// How long a decision can be taken back before it is sent. The browser remembers the choice.

const KEY = "passrail.undo";
export const UNDO_SECONDS = [0, 5, 10, 30] as const;
const USUAL = 10;

export function undoSeconds(): number {
  const kept = Number(localStorage.getItem(KEY) ?? USUAL);
  return UNDO_SECONDS.find((each) => each === kept) ?? USUAL;
}

export function setUndoSeconds(seconds: number): void {
  localStorage.setItem(KEY, String(seconds));
}
