// A choice of one among several: Base UI's select. The policy of the page allows no style elements, so it makes none.

import { CSPProvider } from "@base-ui/react/csp-provider";
import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { plain } from "../base/plain-text.ts";

export type SelectOption = { readonly value: string; readonly name: string };

type Props = {
  readonly value: string;
  readonly options: readonly SelectOption[];
  readonly pick: (value: string) => void;
  readonly className?: string;
  /** Of its label. */
  readonly "aria-labelledby"?: string;
  readonly id?: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
};

/** Names may come from files and agents: longer ones are cut. */
const LONGEST = 120;

export function Select({ value, options, pick, className = "w-full bg-page", ...more }: Props): ReactNode {
  // Over a dialog it belongs to the dialog, else to the page's own content.
  const [isInDialog, setInDialog] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);
  const name = options.find((option) => option.value === value)?.name ?? value;
  return (
    <CSPProvider disableStyleElements>
      <Base.Root
        value={value}
        onValueChange={(next) => next !== null && pick(next)}
        onOpenChange={() => setInDialog(trigger.current?.closest("[role=dialog]") != null)}
        modal={false}
      >
        <Base.Trigger
          {...more}
          ref={trigger}
          className={`flex min-h-9 min-w-0 cursor-pointer items-center justify-between gap-2 rounded-md border border-line px-2 py-1.5 text-left text-sm text-ink hover:bg-sunken pointer-coarse:min-h-11 pointer-coarse:text-base ${className}`}
        >
          <Base.Value className="min-w-0 truncate">{() => plain(name, LONGEST)}</Base.Value>
          <Base.Icon className="shrink-0 text-muted">
            <ChevronsUpDown aria-hidden="true" className="size-3.5" />
          </Base.Icon>
        </Base.Trigger>
        <Base.Portal {...(isInDialog ? {} : { container: document.querySelector("main") })}>
          <Base.Positioner alignItemWithTrigger={false} sideOffset={4} collisionPadding={8} className="z-[60]">
            <Base.Popup className="max-h-[min(24rem,var(--available-height))] min-w-(--anchor-width) max-w-[min(28rem,var(--available-width))] overflow-y-auto rounded-md border border-line bg-panel p-1 text-ink shadow-lg outline-none">
              <Base.List>
                {options.map((option) => (
                  <Base.Item
                    key={option.value}
                    value={option.value}
                    className="flex min-h-8 cursor-pointer items-center gap-2 rounded px-2 py-1 text-sm outline-none data-highlighted:bg-chosen pointer-coarse:min-h-11 pointer-coarse:text-base"
                  >
                    <span className="flex size-4 shrink-0 items-center">
                      <Base.ItemIndicator>
                        <Check aria-hidden="true" className="size-4" />
                      </Base.ItemIndicator>
                    </span>
                    <Base.ItemText className="min-w-0 [overflow-wrap:anywhere]">
                      {plain(option.name, LONGEST)}
                    </Base.ItemText>
                  </Base.Item>
                ))}
              </Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </CSPProvider>
  );
}
