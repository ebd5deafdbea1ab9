// The acts on everything that is selected, always in sight while something is.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { COMPARED } from "../compare/asked.ts";
import { Button } from "../ui/button.tsx";
import { BULK_VERBS, BULK_WORDS, type BulkVerb, isDangerous, type BulkSubject } from "./plan.ts";

const BulkDialog = lazy(async () => ({ default: (await import("./bulk-dialog.tsx")).BulkDialog }));

type Props = {
  readonly subjects: readonly BulkSubject[];
  readonly clear: () => void;
  /** Why this login can do nothing; undefined if it can. */
  readonly disabledBecause: string | undefined;
};

export function BulkBar({ subjects, clear, disabledBecause }: Props): ReactNode {
  const [verb, setVerb] = useState<BulkVerb | null>(null);
  if (subjects.length === 0) return null;
  const runs = subjects.flatMap(({ run }) => run?.number ?? []);
  return (
    <section
      aria-label="Selected"
      className="sticky bottom-(--tabs) z-30 flex flex-wrap items-center gap-1.5 rounded-lg border border-ink bg-panel px-3 py-2 text-sm shadow-lg md:bottom-[calc(1rem+var(--undo-room,0px))]"
    >
      <strong className="mr-1 font-medium">{subjects.length} selected</strong>
      {BULK_VERBS.map((each) => (
        <Button
          key={each}
          look={isDangerous(each) ? "danger" : "plain"}
          disabledBecause={disabledBecause}
          onClick={() => setVerb(each)}
        >
          {BULK_WORDS[each]}
        </Button>
      ))}
      {runs.length >= 2 && runs.length <= COMPARED && (
        <Link
          to="/compare"
          search={{ runs: runs.join(",") }}
          className="inline-flex min-h-9 items-center rounded-md border border-line bg-panel px-3 py-1.5 text-sm font-medium text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11"
        >
          Compare
        </Link>
      )}
      <Button look="bare" onClick={clear} keys="Esc">
        Clear
      </Button>
      <Suspense>
        {verb !== null && <BulkDialog verb={verb} subjects={subjects} close={() => setVerb(null)} done={clear} />}
      </Suspense>
    </section>
  );
}
