import type { ReactNode } from "react";

export function LineCount({ added, removed }: { readonly added: number; readonly removed: number }): ReactNode {
  return (
    <span className="tabular font-mono text-xs whitespace-nowrap">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
      <span className="sr-only"> lines</span>
    </span>
  );
}
