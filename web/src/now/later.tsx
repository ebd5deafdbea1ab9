// Snoozes the shown entry, or brings it back into the list.

import { Clock } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { LATER, usePutOff } from "./put-off.ts";

export function Later({ id, isLater }: { readonly id: string; readonly isLater: boolean }): ReactNode {
  const putOff = usePutOff();
  const busy = putOff.isPending ? "It is being put off." : undefined;
  if (isLater)
    return (
      <div>
        <Button disabledBecause={busy} onClick={() => putOff.mutate({ id, until: null })}>
          Show it again now
        </Button>
      </div>
    );
  return (
    <div role="group" aria-label="See it later" className="-mb-1 flex flex-wrap items-center gap-1 text-xs text-muted">
      <span className="mr-1 inline-flex items-center gap-1.5">
        <Clock aria-hidden="true" className="size-3.5" />
        Later
      </span>
      {LATER.map(({ name, at }) => (
        <button
          key={name}
          type="button"
          disabled={putOff.isPending}
          onClick={() => putOff.mutate({ id, until: at(new Date()).toISOString() })}
          className="min-h-7 cursor-pointer rounded-md border border-line bg-panel px-2 text-ink hover:bg-sunken pointer-coarse:min-h-11"
        >
          {name}
        </button>
      ))}
    </div>
  );
}
