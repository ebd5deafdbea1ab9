/** One word for a shell, ready to paste: the shell reads nothing in it as a command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
