import { Check, Files } from "lucide-react";
import { type ReactNode, useState } from "react";
import { plain } from "../base/plain-text.ts";
import { tip } from "./tip.ts";

/** A command with a copy button. */
export function CopyLine({ children }: { readonly children: string }): ReactNode {
  return (
    <span className="flex min-w-0 items-center gap-2 rounded-md bg-sunken px-2 py-1 text-xs">
      <code className="min-w-0 flex-1 whitespace-pre-wrap [overflow-wrap:anywhere]">{plain(children, 2000)}</code>
      <Copy text={children} />
    </span>
  );
}

/** `text` may be long or say little to people: the button names it. */
export function Copy({ text, label = "Copy" }: { readonly text: string; readonly label?: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      {...tip(label === "Copy" ? undefined : plain(text, 400))}
      className="min-h-7 shrink-0 cursor-pointer rounded px-2 text-muted hover:bg-sunken hover:text-ink pointer-coarse:min-h-11"
      onClick={() =>
        void navigator.clipboard.writeText(text).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      }
    >
      <span aria-live="polite" className="inline-flex items-center gap-1.5">
        {isCopied ? (
          <Check aria-hidden="true" className="size-3.5" />
        ) : (
          <Files aria-hidden="true" className="size-3.5" />
        )}
        {isCopied ? "Copied" : label}
      </span>
    </button>
  );
}
