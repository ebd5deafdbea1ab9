// Text that agents and tickets wrote, made safe for places that take no markup: attributes, titles, desktop notifications.

/** Every control and format character except tabs and line ends. */
export const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029\ufff9-\ufffb]/gu;

/** The text with invisible characters replaced by their code points, cut at `max`. */
export function plain(text: string, max = 200): string {
  const clean = text.replaceAll(HIDDEN, (char) => codeOf(char));
  return clean.length > max ? `${clean.slice(0, max)}…` : clean;
}

export function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
