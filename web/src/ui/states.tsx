// The states every page has besides its data: loading, empty, failed.

import type { ReactNode } from "react";
import { ApiError } from "../base/api.ts";
import { Button } from "./button.tsx";
import { SafeText } from "./safe-text.tsx";
import { Icon } from "./icon.tsx";

export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <div role="status" className="p-6 text-muted">
      Loading {what}…
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="flex flex-col items-start gap-2 rounded-lg border border-dashed border-line p-6 text-muted">
      <p className="text-base font-medium text-ink">{title}</p>
      {children}
    </div>
  );
}

export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }): ReactNode {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg border border-bad bg-bad-soft p-4 text-bad">
      <p className="font-medium">
        <Icon name="cross" className="mr-1 inline" />
        <SafeText>{problem?.detail ?? (error instanceof Error ? error.message : "Something went wrong.")}</SafeText>
      </p>
      {problem?.hint !== undefined && (
        <p className="text-sm">
          <SafeText>{problem.hint}</SafeText>
        </p>
      )}
      {problem !== undefined && <p className="font-mono text-xs">{problem.code}</p>}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}
