// Text from an agent with nothing hidden in it: characters that move, reverse or erase what a person reads are shown as their codes.

/** Line breaks and tabs stay. */
export function controlsShown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]|\p{Cs}/gu, (char) =>
    char === "\n" || char === "\t" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
