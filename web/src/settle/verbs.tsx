// The ways to settle one thing: buttons for the acts, links to where it can be seen, and the commands for a terminal.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { type About, type Doing, isDangerous, isDoing, nameOf, type SettleVerb } from "./acts.ts";

/** The inbox must not wait for it; it loads when a person is about to act, or a little later. */
const loadDialog = () => import("./settle-dialog.tsx");
const SettleDialog = lazy(async () => ({ default: (await loadDialog()).SettleDialog }));
const LATER_MS = 3000;

type Props = {
  readonly about: About;
  readonly title: string;
  readonly verbs: readonly SettleVerb[];
  /** Why nothing can be done now; undefined if it can. */
  readonly disabledBecause?: string | undefined;
};

type Chosen = Omit<SettleVerb, "act"> & { readonly act: Doing };

export function Verbs({ about, title, verbs, disabledBecause }: Props): ReactNode {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(() => {
    // Without a connection there is no dialog yet, and the next try loads it.
    const later = setTimeout(() => void loadDialog().catch(() => undefined), LATER_MS);
    return () => clearTimeout(later);
  }, []);
  const typed = verbs.filter(({ act }) => act.do !== "open");
  // The usual way comes first.
  const usual = verbs.find(({ act }) => isDoing(act));
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap gap-1.5">
        {verbs.map((verb) => {
          const { act } = verb;
          if (!isDoing(act)) return <Way key={verb.command} verb={verb} />;
          const name = nameOf(verb);
          return (
            <Button
              key={verb.command}
              look={isDangerous(act) ? "danger" : verb === usual ? "primary" : "plain"}
              aria-label={`${name}: ${title.slice(0, 120)}`}
              disabledBecause={disabledBecause}
              onPointerEnter={() => void loadDialog().catch(() => undefined)}
              onClick={() => setChosen({ ...verb, act })}
            >
              {name}
            </Button>
          );
        })}
      </div>
      {typed.length > 0 && (
        <details className="text-xs">
          <summary className="cursor-pointer text-muted pointer-coarse:min-h-11">In a terminal</summary>
          <ul className="mt-1 flex flex-col gap-1">
            {typed.map(({ verb, command }) => (
              <li key={command}>
                <span className="text-muted">{verb}</span>
                <CopyLine>{command}</CopyLine>
              </li>
            ))}
          </ul>
        </details>
      )}
      {chosen !== null && (
        <Suspense fallback={null}>
          <SettleDialog about={about} title={title} verb={chosen} close={() => setChosen(null)} />
        </Suspense>
      )}
    </div>
  );
}

const LINK =
  "inline-flex min-h-9 items-center rounded-md border border-line bg-panel px-3 py-1.5 text-sm font-medium text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11";

/** A link in the form of a button; nothing for what only a terminal does. */
function Way({ verb }: { readonly verb: SettleVerb }): ReactNode {
  const { act } = verb;
  const name = nameOf(verb);
  if (act.do === "open")
    return WEB.test(act.url) ? (
      <a href={act.url} target="_blank" rel="noopener noreferrer nofollow" className={LINK}>
        {name}
      </a>
    ) : null;
  if (act.do !== "show") return null;
  switch (act.what) {
    case "run":
      return (
        <Link to="/runs/$run" params={{ run: act.name }} className={LINK}>
          {name}
        </Link>
      );
    case "changes":
      return (
        <Link to="/runs/$run" params={{ run: act.name }} search={{ tab: "changes" }} className={LINK}>
          {name}
        </Link>
      );
    case "ticket":
      return (
        <Link to="/tickets/$ticket" params={{ ticket: act.name }} className={LINK}>
          {name}
        </Link>
      );
    case "flow":
      return (
        <Link to="/flows/$flow" params={{ flow: act.name }} className={LINK}>
          {name}
        </Link>
      );
    case "tickets":
      return (
        <Link to="/work" className={LINK}>
          {name}
        </Link>
      );
    case "trust":
      return (
        <Link to="/trust" className={LINK}>
          {name}
        </Link>
      );
  }
}

/** A forge's answer is not ours: only a web address becomes a link. */
const WEB = /^https?:\/\//u;
