// The messages on the page: over the list at the left, beyond what can still be taken back; on a phone at the top. They never cover the field
// that a person writes in, and stay while the pointer or the focus is on them.

import { Toast } from "@base-ui/react/toast";
import { Check, CircleAlert, Info, type LucideIcon, X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Tone } from "../base/status.ts";
import { SafeText } from "./safe-text.tsx";
import { type Message, takeMessages } from "./toast.ts";

const SHOWN_MS = 6000;
const AT_ONCE = 4;
const LONGEST = 300;

type Place = "usual" | "top" | "bottom";

/** `--undo-room` is the height of the bar of what can be taken back, which is in the same corner. */
const PLACES: Readonly<Record<Place, string>> = {
  usual:
    "max-md:top-[calc(3rem+var(--undo-room,0px))] flex-col md:flex-col-reverse md:bottom-[calc(1rem+var(--undo-room,0px))]",
  top: "max-md:top-[calc(3rem+var(--undo-room,0px))] top-4 flex-col",
  bottom: "bottom-20 md:bottom-[calc(1rem+var(--undo-room,0px))] flex-col-reverse",
};

const LOOKS: Readonly<Record<Tone, { readonly icon: LucideIcon; readonly tone: string }>> = {
  good: { icon: Check, tone: "text-good" },
  bad: { icon: CircleAlert, tone: "text-bad" },
  warning: { icon: CircleAlert, tone: "text-warning" },
  attention: { icon: CircleAlert, tone: "text-attention" },
  active: { icon: Info, tone: "text-active" },
  held: { icon: Info, tone: "text-held" },
  quiet: { icon: Info, tone: "text-quiet" },
};

const messages = Toast.createToastManager<Message>();

export function ToastList(): ReactNode {
  const [place, setPlace] = useState<Place>("usual");
  useEffect(
    () =>
      takeMessages(({ text, tone }) => {
        setPlace(placeBeside(document.activeElement));
        messages.add({ data: { text, tone }, timeout: SHOWN_MS });
      }),
    [],
  );
  return (
    <Toast.Provider toastManager={messages} limit={AT_ONCE}>
      <Toast.Portal>
        <Toast.Viewport
          className={`pointer-events-none fixed z-50 flex gap-2 max-md:inset-x-2 md:left-56 md:w-[min(24rem,calc(100vw-16rem))] ${PLACES[place]}`}
        >
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown(): ReactNode {
  const { toasts } = Toast.useToastManager<Message>();
  return toasts.map((each) => {
    const { icon: Drawn, tone } = LOOKS[each.data?.tone ?? "quiet"];
    return (
      <Toast.Root
        key={each.id}
        toast={each}
        // It asks for nothing, so it is no dialog.
        role="group"
        aria-modal={undefined}
        swipeDirection={["left", "up", "down"]}
        className="pointer-events-auto translate-x-(--toast-swipe-movement-x) translate-y-(--toast-swipe-movement-y) rounded-md border border-line bg-panel text-sm text-ink shadow-lg transition-[opacity,translate] duration-150 data-ending-style:opacity-0 data-limited:hidden data-starting-style:opacity-0"
      >
        <Toast.Content className="flex items-start gap-2 py-2 pr-1 pl-3">
          <Drawn aria-hidden="true" className={`mt-0.5 size-4 shrink-0 ${tone}`} />
          <Toast.Description className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            <SafeText max={LONGEST}>{each.data?.text ?? ""}</SafeText>
          </Toast.Description>
          <Toast.Close
            aria-label="Dismiss"
            // All of them are in sight, none is behind another.
            aria-hidden={undefined}
            className="-my-1 flex size-8 shrink-0 cursor-pointer items-center justify-center rounded-md text-muted hover:bg-sunken pointer-coarse:size-11"
          >
            <X aria-hidden="true" className="size-4" />
          </Toast.Close>
        </Toast.Content>
      </Toast.Root>
    );
  });
}

/** In the other half of the window than the field that is being written in. */
function placeBeside(focused: Element | null): Place {
  if (focused === null || !focused.matches("textarea, input, [contenteditable]")) return "usual";
  const { top, bottom } = focused.getBoundingClientRect();
  return (top + bottom) / 2 > innerHeight / 2 ? "top" : "bottom";
}
