import type { ReactNode } from "react";
import { plain } from "../base/plain-text.ts";

export type PickOption = readonly [value: string, name: string];

/** A labelled choice in a bar of filters. A value of the address that is not among the options is shown all the same. */
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
  const isKnown = options.some(([name]) => name === value);
  return (
    <label className="flex min-w-0 gap-x-2 text-sm whitespace-nowrap text-muted max-md:flex-col md:items-center">
      {label}
      <select
        value={value}
        onChange={({ target }) => pick(target.value)}
        className="min-h-9 w-full min-w-0 rounded-md border border-line bg-panel px-2 text-sm text-ink md:max-w-48 pointer-coarse:min-h-11"
      >
        {!isKnown && <option value={value}>{plain(value, 60)}</option>}
        {options.map(([name, word]) => (
          <option key={name} value={name}>
            {plain(word, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
