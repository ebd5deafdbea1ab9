import { Tooltip } from "@base-ui/react/tooltip";
import { type ReactNode, useEffect, useId } from "react";

/** Beside the element that it describes. Escape closes it. */
export function TipPopup({
  of,
  text,
  close,
}: {
  readonly of: Element;
  readonly text: string;
  readonly close: () => void;
}): ReactNode {
  const id = useId();
  useEffect(() => {
    // A disabled button has its reason there already.
    if (of.hasAttribute("aria-describedby")) return;
    of.setAttribute("aria-describedby", id);
    return () => of.removeAttribute("aria-describedby");
  }, [of, id]);
  return (
    <Tooltip.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Tooltip.Portal container={placeFor(of)}>
        <Tooltip.Positioner anchor={of} sideOffset={6} collisionPadding={8} className="z-[60]">
          <Tooltip.Popup
            id={id}
            role="tooltip"
            data-tip-popup
            className="max-w-[min(24rem,calc(100vw-1rem))] rounded-md bg-ink px-2 py-1 text-xs text-page shadow-lg [overflow-wrap:anywhere]"
          >
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

/** A tip of a dialog is placed beside its element, because the dialog cuts off larger content, and the rest of the page is out of reach. */
function placeFor(of: Element): HTMLElement | null {
  return of.closest("[role=dialog]")?.parentElement ?? document.querySelector("main");
}
