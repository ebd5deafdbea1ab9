// The content of More on a phone: the other pages, today's cost, and the commands.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { LiveMark } from "./live-mark.tsx";
import { PAGES } from "./places.ts";
import type { Overlay } from "./rail.tsx";
import { Today } from "./today.tsx";

const ELSEWHERE: ReadonlySet<string> = new Set(["/", "/runs", "/work"]);
const LOOK =
  "flex min-h-11 w-full cursor-pointer items-center rounded-md px-2 text-left text-base text-ink no-underline hover:bg-sunken";

type Props = { readonly close: () => void; readonly open: (overlay: Overlay) => void };

export function More({ close, open }: Props): ReactNode {
  return (
    <Dialog title="More" close={close}>
      <ul className="flex flex-col">
        {PAGES.filter(({ to }) => !ELSEWHERE.has(to)).map(({ to, name }) => (
          <li key={to}>
            <Link to={to} className={LOOK} onClick={close}>
              {name}
            </Link>
          </li>
        ))}
        <li>
          <button type="button" className={LOOK} onClick={() => open("palette")}>
            Commands
          </button>
        </li>
        {(["pause", "resume"] as const).map((act) => (
          <li key={act}>
            <button type="button" className={LOOK} onClick={() => open(act)}>
              {act === "pause" ? "Pause everything" : "Resume everything"}
            </button>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex flex-col gap-3 border-t border-line px-2 pt-3 text-sm">
        <Today />
        <LiveMark />
      </div>
    </Dialog>
  );
}
