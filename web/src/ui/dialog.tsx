import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

/** A dialog over the page. Escape or a click outside closes it, and the focus returns to where it was. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
}): ReactNode {
  return (
    <Base.Root open onOpenChange={(open) => !open && close()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          className={`fixed inset-x-4 top-[10dvh] z-50 mx-auto flex max-h-[80dvh] flex-col overflow-hidden rounded-lg border border-line bg-panel shadow-xl ${wide ? "max-w-3xl" : "max-w-lg"}`}
        >
          <Base.Title className="border-b border-line px-4 py-2.5 text-sm font-semibold">{title}</Base.Title>
          <div className="overflow-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
