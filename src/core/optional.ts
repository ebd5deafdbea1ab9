// Optional fields of an object, left out where they are undefined: `{ id, ...optional({ title }) }`.

export type Optional<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

export function optional<T extends Readonly<Record<string, unknown>>>(fields: T): Optional<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Optional<T>;
}
