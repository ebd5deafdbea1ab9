// Everything is paused, on every page: by whom, since when, why, and the button that ends it.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { nowQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { clock } from "../ui/time.tsx";

export function PauseBanner({ resume }: { readonly resume: () => void }): ReactNode {
  const paused = useQuery(nowQuery).data?.paused ?? null;
  if (paused === null) return null;
  return (
    <section
      aria-label="Everything is paused"
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line bg-held-soft px-4 py-2 text-sm text-held md:px-6"
    >
      <span className="min-w-0 break-words">
        <Icon name="paused" className="mr-1.5 inline" />
        <span className="font-medium">Everything is paused</span> by{" "}
        <SafeText max={80}>{paused.by.replace(/^human:/u, "")}</SafeText>
        {` since ${clock(paused.since)}`}
        {paused.reason !== "" && (
          <>
            {" · "}
            <SafeText max={200}>{paused.reason}</SafeText>
          </>
        )}
        {" · runs that are started now begin paused"}
      </span>
      <Button onClick={resume}>Resume everything</Button>
    </section>
  );
}
