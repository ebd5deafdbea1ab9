import type { ReactNode } from "react";
import { Named } from "./field.tsx";
import { Select, type SelectOption } from "./select.tsx";

/** One of several, as a field of a form. It has its own file: pages that have no list do not load the code for one. */
export function Choice({
  label,
  options,
  pick,
  value,
  error,
}: {
  readonly label: string;
  readonly error?: string | undefined;
  readonly options: readonly SelectOption[];
  readonly value: string;
  readonly pick: (value: string) => void;
}): ReactNode {
  return (
    <Named label={label} error={error}>
      {(ids) => <Select {...ids} value={value} options={options} pick={pick} />}
    </Named>
  );
}
