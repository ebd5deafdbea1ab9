// Form fields with labels and hints. ui/choice.tsx has the one with a list.

import { type ComponentProps, type ReactNode, useId } from "react";
import { SafeText } from "./safe-text.tsx";

const BOX =
  "min-h-9 w-full rounded-md border border-line bg-page px-2 py-1.5 text-sm text-ink pointer-coarse:min-h-11 pointer-coarse:text-base";

export function TextField({
  label,
  hint,
  error,
  ...rest
}: {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
} & ComponentProps<"input">): ReactNode {
  return (
    <Named label={label} hint={hint} error={error}>
      {(ids) => <input {...rest} {...ids} className={BOX} />}
    </Named>
  );
}

export function TextArea({
  label,
  hint,
  ...rest
}: { readonly label: string; readonly hint?: string } & ComponentProps<"textarea">): ReactNode {
  return (
    <Named label={label} hint={hint}>
      {(ids) => <textarea rows={3} {...rest} {...ids} className={BOX} />}
    </Named>
  );
}

type Ids = { readonly id: string; readonly "aria-describedby"?: string; readonly "aria-invalid"?: true };

/** A field with its label, its hint and its error. */
export function Named({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why what was entered is refused. */
  readonly error?: string | undefined;
  readonly children: (ids: Ids) => ReactNode;
}): ReactNode {
  const id = useId();
  const told = [...(error === undefined ? [] : [`${id}-error`]), ...(hint === undefined ? [] : [`${id}-hint`])];
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      {children({
        id,
        ...(told.length === 0 ? {} : { "aria-describedby": told.join(" ") }),
        ...(error === undefined ? {} : { "aria-invalid": true }),
      })}
      {error !== undefined && (
        <span id={`${id}-error`} role="alert" className="text-xs text-bad [overflow-wrap:anywhere]">
          <SafeText max={600}>{error}</SafeText>
        </span>
      )}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </span>
      )}
    </div>
  );
}
