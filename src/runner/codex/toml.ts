// Values as Codex' `-c key=value` reads them: TOML. What does not parse it would take as plain text, so everything is written exactly.

export type TomlValue = string | boolean | readonly string[] | { readonly [key: string]: TomlValue };

export function toToml(value: TomlValue): string {
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(quoted).join(",")}]`;
  const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}=${toToml(item)}`);
  return `{${entries.join(",")}}`;
}

/** A basic string. JSON escapes all that TOML wants escaped but DEL; half of a surrogate pair is no character in TOML. */
const quoted = (value: string): string => JSON.stringify(value.toWellFormed()).replaceAll("\u007f", "\\u007f");
