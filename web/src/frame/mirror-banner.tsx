// The status mirror is behind, on every page: people who look at the other database see an old status.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { statusMirrorQuery } from "../base/queries.ts";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { clock } from "../ui/time.tsx";

export function MirrorBanner(): ReactNode {
  const mirror = useQuery(statusMirrorQuery).data?.mirror ?? null;
  if (mirror === null || mirror.behindSince === null) return null;
  const { to, behindSince, reason, events } = mirror;
  return (
    <section
      aria-label="Status mirror"
      className="border-b border-line bg-held-soft px-4 py-2 text-sm break-words text-held md:px-6"
    >
      <Icon name="hourglass" className="mr-1.5 inline" />
      Status mirror behind since {clock(behindSince)}: <SafeText max={200}>{to ?? ""}</SafeText> (
      {events === 1 ? "1 event" : `${events} events`}). Runs are not affected.{" "}
      <SafeText max={200}>{reason ?? ""}</SafeText>
    </section>
  );
}
