// Shows the tips of elements (ui/tip.ts). One listener for the whole page: a table of five hundred rows would otherwise have a
// component for each time and badge. The popup is Base UI's; its code comes with the first use.

import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";

const TipPopup = lazy(async () => ({ default: (await import("./tip-popup.tsx")).TipPopup }));

/** A pointer that only passes by opens nothing. */
const REST_MS = 350;
/** Long enough to reach the popup, to select its text. */
const LEAVE_MS = 150;

export function Tips(): ReactNode {
  const [of, setOf] = useState<Element | null>(null);
  useEffect(() => listen(setOf), []);
  const text = of?.isConnected === true ? of.getAttribute("data-tip") : null;
  if (of === null || text === null) return null;
  return (
    <Suspense>
      <TipPopup of={of} text={text} close={() => setOf(null)} />
    </Suspense>
  );
}

function listen(show: (of: Element | null) => void): () => void {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const after = (ms: number, of: Element | null): void => {
    clearTimeout(timer);
    timer = setTimeout(() => show(of), ms);
  };
  const over = ({ target, pointerType }: PointerEvent): void => {
    if (!(target instanceof Element)) return;
    if (target.closest("[data-tip-popup]") !== null) return clearTimeout(timer);
    const of = target.closest("[data-tip]");
    after(of === null ? LEAVE_MS : pointerType === "touch" ? 0 : REST_MS, of);
  };
  const focus = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.matches("[data-tip]:focus-visible")) after(0, target);
  };
  const leave = (): void => after(0, null);
  const how = { signal: stop.signal, passive: true, capture: true };
  document.addEventListener("pointerover", over, how);
  document.addEventListener("focusin", focus, how);
  document.addEventListener("focusout", leave, how);
  document.addEventListener("scroll", leave, how);
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
