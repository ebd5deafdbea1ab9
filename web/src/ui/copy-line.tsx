import { type ReactNode, useState } from "react";
import { plain } from "../base/plain-text.ts";

/** A command with a copy button. */
export function CopyLine({ children }: { readonly children: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <span className="flex min-w-0 items-center gap-2 rounded-md bg-sunken px-2 py-1 text-xs">
      <code className="min-w-0 flex-1 whitespace-pre-wrap [overflow-wrap:anywhere]">{plain(children, 2000)}</code>
      <button
        type="button"
        className="min-h-7 shrink-0 cursor-pointer rounded px-2 underline pointer-coarse:min-h-11"
        onClick={() =>
          void navigator.clipboard.writeText(children).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }
      >
        <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
      </button>
    </span>
  );
}
