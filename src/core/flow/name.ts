// Names of stages, agents, tracks and counters. They become keys, file names and parts of messages, so there is one pattern for all.

export const NAME_PATTERN = /^[A-Za-z][A-Za-z0-9-]{0,47}$/;

/** Also excludes properties of every object (constructor, toString …). */
export function isName(text: string): boolean {
  return NAME_PATTERN.test(text) && !(text in {});
}
