// A setting's value as one short text.

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "not set";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueText).join(", ");
  const entries = Object.entries(value);
  return entries.length === 0 ? "none" : entries.map(([key, each]) => `${key}: ${inner(each)}`).join(", ");
}

function inner(value: unknown): string {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? `{ ${valueText(value)} }`
    : valueText(value);
}
