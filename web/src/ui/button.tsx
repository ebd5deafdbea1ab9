// Buttons. A disabled one says why and stays reachable, so that screen readers announce the reason.

import { type ComponentProps, type ReactNode, useId } from "react";
import { tip } from "./tip.ts";

const LOOKS = {
  plain: "border border-line bg-panel text-ink hover:bg-sunken",
  primary: "border border-ink bg-ink text-page hover:bg-ink/85",
  danger: "border border-bad bg-panel text-bad hover:bg-bad-soft",
  bare: "border border-transparent text-ink hover:bg-sunken",
} as const;

export type ButtonProps = Omit<ComponentProps<"button">, "disabled"> & {
  readonly look?: keyof typeof LOOKS;
  /** Why it is disabled; absent if it is enabled. */
  readonly disabledBecause?: string | undefined;
  /** Its shortcut, shown inside. */
  readonly keys?: string;
  readonly children: ReactNode;
};

export function Button({
  look = "plain",
  disabledBecause,
  keys,
  className = "",
  children,
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  const why = useId();
  const isOff = disabledBecause !== undefined;
  return (
    <span className="inline-flex flex-col">
      <button
        type="button"
        {...rest}
        aria-disabled={isOff}
        {...(isOff ? { "aria-describedby": why, ...tip(disabledBecause) } : {})}
        onClick={(event) => (isOff ? event.preventDefault() : onClick?.(event))}
        className={`inline-flex min-h-9 items-center justify-center gap-2 rounded-md px-3 py-1.5 text-sm font-medium pointer-coarse:min-h-11 ${LOOKS[look]} ${isOff ? "cursor-not-allowed opacity-60" : "cursor-pointer"} ${className}`}
      >
        {children}
        {keys !== undefined && <Keys>{keys}</Keys>}
      </button>
      {isOff && (
        <span id={why} className="sr-only">
          {disabledBecause}
        </span>
      )}
    </span>
  );
}

function Keys({ children }: { readonly children: string }): ReactNode {
  return (
    <kbd aria-hidden="true" className="hidden rounded border border-current/30 px-1 font-mono text-[0.7rem] md:inline">
      {children}
    </kbd>
  );
}
