// Writes a value into front matter: plain where that is safe, else in quotes that every YAML parser reads as the same text.

export type YamlValue = string | number | readonly string[];

/** `quotes`: the quotes of the replaced value, kept if the new text allows it. */
export function yamlValue(value: YamlValue, quotes: "" | "'" | '"' = ""): string {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return `[${value.map((each) => yamlValue(each)).join(", ")}]`;
  if (quotes === '"') return quoted(value);
  if (!isPlain(value)) return quoted(value);
  return quotes === "'" ? `'${value}'` : value;
}

/**
 * A text as the value of a key, with its lines as they are where YAML allows it. The indentation is written down, so that no line of the
 * text, however it begins, can end the value.
 */
export function yamlText(text: string): string {
  // Simple programs look for the lines of dashes that end a front matter anywhere in a line.
  const isBlock = text.includes("\n") && BLOCK.test(text) && !text.includes("---") && !/^\s|\s$/u.test(text);
  if (!isBlock) return quoted(text);
  return `|2-\n${text
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`))
    .join("\n")}`;
}

/** Letters, marks, numbers, signs, spaces, tabs and line ends: no character that a parser could take for something else. */
const BLOCK = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \t\n]*$/u;

/** Words that are not text in YAML 1.1 or 1.2. */
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

function isPlain(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9 _./()-]{0,199}$/u.test(text) && !text.endsWith(" ") && !NOT_TEXT.test(text);
}

/** JSON is YAML, except for a few characters that JSON leaves as they are. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    // oxlint-disable-next-line no-control-regex -- these must not be in the file unescaped
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
