// Acts that can still be undone: what will be sent when, and the buttons that undo it or send it now.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { useNow } from "../ui/time.tsx";
import { type HeldPlace, sendNow, takeBack, useHeld } from "./held.ts";

export function HeldRows(): ReactNode {
  const held = useHeld();
  return held.map((act) => <Row key={act.id} act={act} isLast={act === held.at(-1)} />);
}

type Held = ReturnType<typeof useHeld>[number];

function Row({ act, isLast }: { readonly act: Held; readonly isLast: boolean }): ReactNode {
  const { id, title, done, dueAt, place } = act;
  const undo = useUndo(id, place);
  return (
    <div data-held={id} className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2">
      {isLast && <UndoKey undo={undo} />}
      <p className="min-w-0 flex-1 basis-40 [overflow-wrap:anywhere]">
        <strong className="font-medium">{done}</strong>
        {title !== "" && (
          <>
            : <SafeText max={120}>{title}</SafeText>
          </>
        )}{" "}
        <Countdown dueAt={dueAt} />
      </p>
      <Button onClick={undo} {...(isLast ? { keys: "z" } : {})}>
        Undo
      </Button>
      <Button look="bare" onClick={() => sendNow(id)}>
        Send now
      </Button>
    </div>
  );
}

/** Not announced each second. */
function Countdown({ dueAt }: { readonly dueAt: number }): ReactNode {
  const now = useNow(250);
  return (
    <span aria-hidden="true" className="tabular whitespace-nowrap text-muted">
      is sent in {Math.max(0, Math.ceil((dueAt - now) / 1000))} s
    </span>
  );
}

function UndoKey({ undo }: { readonly undo: () => void }): null {
  const list = useMemo(() => [{ keys: "z", does: "Take the last act back", group: "Deciding", act: undo }], [undo]);
  useShortcuts(list);
  return null;
}

/** Back to the thing, so that the person sees that it waits again. */
function useUndo(id: string, place: HeldPlace): () => void {
  const navigate = useNavigate();
  return useMemo(
    () => () => {
      if (!takeBack(id)) return;
      switch (place.is) {
        case "item":
          return void navigate({ to: "/g/$item", params: { item: place.item } });
        case "run":
          return void navigate({ to: "/runs/$run", params: { run: place.run } });
        case "ticket":
          return void navigate({ to: "/tickets/$ticket", params: { ticket: place.ticket } });
        case "many":
          return undefined;
      }
    },
    [id, place, navigate],
  );
}
