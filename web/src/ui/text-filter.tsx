import { Search } from "lucide-react";
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
    <label className="relative flex min-w-0 items-center text-sm text-muted max-md:grow">
      <span className="sr-only">Text</span>
      <Search aria-hidden="true" className="pointer-events-none absolute left-2.5 size-4" />
      <input
        type="search"
        value={typed}
        maxLength={200}
        placeholder="Title or ticket"
        onChange={({ target }) => setTyped(target.value)}
        className="min-h-9 w-full min-w-0 rounded-md md:w-44 border border-line bg-panel pr-2 pl-8 text-sm text-ink pointer-coarse:min-h-11"
      />
    </label>
  );
}
