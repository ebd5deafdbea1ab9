// What an element says when a pointer rests on it, a finger touches it or the focus is on it. frame/tips.tsx shows it.

/** Attributes for the element; none without a text. Text of agents goes through `plain` first. */
export function tip(text: string | undefined): { readonly "data-tip"?: string } {
  return text === undefined || text === "" ? {} : { "data-tip": text };
}
