import { type ChangeEvent, useState } from "react";

type Field = {
  readonly value: string;
  readonly onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
};

/** The texts of a form. `field("title")` gives an input its value and stores the typed text. */
export function useFields<F extends Readonly<Record<string, string>>>(
  initial: F,
): readonly [values: F, field: (name: keyof F) => Field] {
  const [values, setValues] = useState(initial);
  const field = (name: keyof F): Field => ({
    value: values[name] ?? "",
    onChange: ({ target: { value } }) => setValues((before) => ({ ...before, [name]: value })),
  });
  return [values, field];
}
