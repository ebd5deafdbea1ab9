// Form fields with labels and hints.

import { type ComponentProps, type ReactNode, useId } from "react";

const BOX =
  "min-h-9 w-full rounded-md border border-line bg-page px-2 py-1.5 text-sm text-ink pointer-coarse:min-h-11 pointer-coarse:text-base";

export function TextField({
  label,
  hint,
  ...rest
}: { readonly label: string; readonly hint?: string } & ComponentProps<"input">): ReactNode {
  return (
    <Named label={label} hint={hint}>
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

export function Choice({
  label,
  options,
  pick,
  value,
}: {
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  readonly value: string;
  readonly pick: (value: string) => void;
}): ReactNode {
  return (
    <Named label={label}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => pick(target.value)} className={BOX}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Named>
  );
}

type Ids = { readonly id: string; readonly "aria-describedby"?: string };

function Named({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly children: (ids: Ids) => ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      {children(hint === undefined ? { id } : { id, "aria-describedby": `${id}-hint` })}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </span>
      )}
    </div>
  );
}
