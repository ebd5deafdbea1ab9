// The tickets that block a ticket, each with the reason.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ListedFile } from "./listed-ticket.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { tip } from "../ui/tip.ts";

const SHOWN = 3;

export function BlockedBy({ file }: { readonly file: Pick<ListedFile, "blockedBy" | "root"> }): ReactNode {
  const { blockedBy, root } = file;
  if (blockedBy.length === 0) return null;
  const shown = blockedBy.slice(0, SHOWN);
  return (
    <p className="min-w-0 text-xs break-words text-muted">
      Blocked by{" "}
      {shown.map(({ id, why }, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <Link
            to="/tickets/$ticket"
            params={{ ticket: id }}
            {...tip(plain(why, 200))}
            className="relative z-10 font-mono underline"
          >
            <SafeText max={40}>{id}</SafeText>
          </Link>{" "}
          (<SafeText max={80}>{why}</SafeText>)
        </span>
      ))}
      {blockedBy.length > SHOWN && ` and ${blockedBy.length - SHOWN} more`}
      {root !== null && (
        <>
          {" "}
          · all wait for{" "}
          <Link to="/tickets/$ticket" params={{ ticket: root.id }} className="relative z-10 font-mono underline">
            <SafeText max={40}>{root.id}</SafeText>
          </Link>{" "}
          (<SafeText max={120}>{root.why}</SafeText>)
        </>
      )}
    </p>
  );
}
