// Optional fields of an object, left out where they are undefined: `{ id, ...optional({ title }) }`.

export type Optional<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Shared, because most calls have nothing to keep and the callers only spread the result. */
const NOTHING = Object.freeze({});

export function optional<T extends Readonly<Record<string, unknown>>>(fields: T): Optional<T> {
  let kept: Record<string, unknown> | undefined;
  for (const name in fields) if (fields[name] !== undefined) (kept ??= {})[name] = fields[name];
  return kept ?? NOTHING;
}
