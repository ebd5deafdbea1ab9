// Fills placeholders: `{{NAME}}` in prompts, `{fact}` in branch names, folders and log lines. One pass: inserted values are not expanded
// again, so `{{Y}}` or `$&` in a ticket's title stays text.

import type { Lookup } from "./condition.ts";

const PROMPT_PLACE = /\{\{([A-Za-z_][A-Za-z0-9_]{0,79})\}\}/g;
const FACT_PLACE = /\{([^{}\n]{1,200})\}/g;
const FACTS = /^ ?[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*( or [A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)* ?$/;

/** Fills `{{NAME}}`; a name without a value is left as it is. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PROMPT_PLACE, (place, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? place) : place,
  );
}

/** Fills `{plan.backend_dir}` and `{ticket.group or ticket.id}` (the first that is set); undefined if a placeholder has no value. */
export function fillFacts(text: string, lookup: Lookup): string | undefined {
  let complete = true;
  const filled = text.replace(FACT_PLACE, (_place, names: string) => {
    for (const name of names.split(" or ")) {
      const value = lookup(name.trim().split("."));
      if ((typeof value === "string" && value !== "") || typeof value === "number") return String(value);
    }
    complete = false;
    return "";
  });
  return complete ? filled : undefined;
}

/** The placeholders that are not facts: a typo would otherwise show only when the run gets there. */
export function badFactPlaces(text: string): readonly string[] {
  return [...text.matchAll(FACT_PLACE)].flatMap(([place, inner]) =>
    inner !== undefined && FACTS.test(inner) ? [] : [place],
  );
}
