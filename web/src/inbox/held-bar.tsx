// Decisions that can still be taken back, above everything: what will be sent when, and the buttons that take it back or send it now.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { useNow } from "../ui/time.tsx";
import { type HeldAnswer, sendNow, takeBack, useHeld } from "./held.ts";

export function HeldBar(): ReactNode {
  const held = useHeld();
  return (
    <div aria-live="polite" className="fixed inset-x-4 bottom-20 z-50 mx-auto flex max-w-xl flex-col gap-2 md:bottom-4">
      {held.map((answer) => (
        <Row key={answer.item.id} answer={answer} isLast={answer === held.at(-1)} />
      ))}
    </div>
  );
}

function Row({ answer, isLast }: { readonly answer: HeldAnswer; readonly isLast: boolean }): ReactNode {
  const { item, given, dueAt } = answer;
  const undo = useUndo(item.id);
  return (
    <div
      data-held={item.id}
      className="flex flex-wrap items-center gap-2 rounded-md border border-line bg-panel px-3 py-2 text-sm shadow-lg"
    >
      {isLast && <UndoKey undo={undo} />}
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <strong className="font-medium">{given.done}</strong>: <SafeText max={120}>{item.subject.title}</SafeText>{" "}
        <Countdown dueAt={dueAt} />
      </p>
      <Button onClick={undo} {...(isLast ? { keys: "z" } : {})}>
        Undo
      </Button>
      <Button look="bare" onClick={() => sendNow(item.id)}>
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
  const list = useMemo(
    () => [{ keys: "z", does: "Take the last decision back", group: "Deciding", act: undo }],
    [undo],
  );
  useShortcuts(list);
  return null;
}

function useUndo(id: string): () => void {
  const navigate = useNavigate();
  return useMemo(
    () => () => {
      if (takeBack(id)) void navigate({ to: "/g/$item", params: { item: id } });
    },
    [id, navigate],
  );
}
