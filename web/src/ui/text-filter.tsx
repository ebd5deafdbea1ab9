import { type ReactNode, useEffect, useState } from "react";

/** A filter field that applies the text when the person pauses typing. */
export function TextFilter({ text, set }: { readonly text: string; readonly set: (text: string) => void }): ReactNode {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const wanted = typed.trim();
    if (wanted === text) return;
    const timer = setTimeout(() => set(wanted), 300);
    return () => clearTimeout(timer);
  }, [typed, text, set]);
  return (
    <label className="flex min-w-0 gap-x-2 text-sm text-muted max-md:flex-col md:items-center">
      Text
      <input
        type="search"
        value={typed}
        maxLength={200}
        placeholder="title or ticket"
        onChange={({ target }) => setTyped(target.value)}
        className="min-h-9 w-full min-w-0 rounded-md md:w-44 border border-line bg-panel px-2 text-sm text-ink pointer-coarse:min-h-11"
      />
    </label>
  );
}
