// The items that a run waits for. A person can decide here; the form loads on demand.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { waitText } from "../../../src/core/view/wait-text.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Loading } from "../ui/states.tsx";
import { Ago } from "../ui/time.tsx";
import type { RunDetail } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

const OneItem = lazy(async () => ({ default: (await import("../inbox/one-item.tsx")).OneItem }));

export function WaitingBanner({ run }: { readonly run: RunDetail }): ReactNode {
  const [open, setOpen] = useState<string | null>(null);
  // An item that was just decided here stays visible with its outcome.
  const isGone = open !== null && run.items.every(({ id }) => id !== open);
  if (run.items.length === 0 && open === null) return null;
  return (
    <ul className="flex flex-col gap-2">
      {run.items.map((item) => (
        <li key={item.id} className="overflow-hidden rounded-lg border border-attention">
          <div className="flex flex-wrap items-center justify-between gap-3 bg-attention-soft px-4 py-2.5 text-sm text-attention">
            <div className="min-w-0">
              <p className="font-medium">
                <Icon name="person" className="mr-1 inline" />
                <SafeText>{waitText(item)}</SafeText> · <Ago at={item.openedAt} />
              </p>
              {(item.why === null ? item.asks.slice(0, 3) : [item.why]).map((ask) => (
                <p key={ask} className="break-words">
                  <SafeText max={500}>{ask}</SafeText>
                </p>
              ))}
            </div>
            <span className="flex items-center gap-3">
              <Link
                to="/g/$item"
                params={{ item: item.id }}
                className="inline-flex min-h-9 items-center text-attention pointer-coarse:min-h-11"
              >
                Full page
              </Link>
              <Button aria-expanded={open === item.id} onClick={() => setOpen(open === item.id ? null : item.id)}>
                {open === item.id ? "Later" : "Decide here"}
              </Button>
            </span>
          </div>
          {open === item.id && <Deciding id={item.id} close={() => setOpen(null)} />}
        </li>
      ))}
      {isGone && open !== null && (
        <li className="rounded-lg border border-line">
          <Deciding id={open} close={() => setOpen(null)} />
          <div className="flex justify-end px-4 pb-3">
            <Button onClick={() => setOpen(null)}>Close</Button>
          </div>
        </li>
      )}
    </ul>
  );
}

function Deciding({ id, close }: { readonly id: string; readonly close: () => void }): ReactNode {
  return (
    <div className="bg-panel p-4">
      <Suspense fallback={<Loading what="the item" />}>
        <OneItem id={id} onDecided={close} />
      </Suspense>
    </div>
  );
}
