import { type ReactNode, useId } from "react";
import { Select } from "../ui/select.tsx";

export type PickOption = readonly [value: string, name: string];

/** A labelled choice in a bar of filters. A value of the address that is not among the options is still shown. */
export function Pick({
  label,
  value,
  options,
  pick,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly PickOption[];
  readonly pick: (value: string) => void;
}): ReactNode {
  const id = useId();
  const isKnown = options.some(([name]) => name === value);
  return (
    <div className="flex min-w-0 gap-x-2 text-sm whitespace-nowrap text-muted max-md:flex-col md:items-center">
      <span id={id}>{label}</span>
      <Select
        aria-labelledby={id}
        value={value}
        options={[
          ...(isKnown ? [] : [{ value, name: value }]),
          ...options.map(([name, word]) => ({ value: name, name: word })),
        ]}
        pick={pick}
        className="w-full bg-panel md:max-w-48"
      />
    </div>
  );
}
