// Values as Codex' `-c key=value` reads them: TOML. Codex takes a value that does not parse as plain text, so every value is written
// exactly.

export type TomlValue = string | number | boolean | readonly string[] | { readonly [key: string]: TomlValue };

export function toToml(value: TomlValue): string {
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(quoted).join(",")}]`;
  const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}=${toToml(item)}`);
  return `{${entries.join(",")}}`;
}

/** A basic string. JSON escapes everything that TOML wants escaped except DEL; half of a surrogate pair is no character in TOML. */
const quoted = (value: string): string => JSON.stringify(value.toWellFormed()).replaceAll("\u007f", "\\u007f");
