// The tip of an element under a pointer, a finger or the focus. frame/tips.tsx shows it.

/** Attributes for the element; none without a text. Text of agents goes through `plain` first. */
export function tip(text: string | undefined): { readonly "data-tip"?: string } {
  return text === undefined || text === "" ? {} : { "data-tip": text };
}
