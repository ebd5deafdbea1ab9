// Text that others wrote, as it enters a prompt: labelled, in a fence that it cannot close, and without anything that signs a verdict.

const TITLE_CHARS = 300;
/** The value of a nonce in any of the forms. An old one proves nothing; an agent that copies it would only lose its verdict. */
const NONCE = /(nonce["'`*]{0,3}\s{0,3}[:=]\s{0,3}["'`]{0,3})[A-Za-z0-9_-]{8,64}/giu;

/** A heading and the text below it. */
export function block(title: string, text: string): string {
  const heading = `## ${oneLine(title)}`;
  return text.trim() === "" ? heading : `${heading}\n${fenced(text)}`;
}

export function withoutNonces(text: string): string {
  return text.replace(NONCE, "$1[removed]");
}

/** The text with a fence longer than any it contains. */
export function fenced(text: string): string {
  const quoted = withoutNonces(text.trim());
  let fence = "```";
  while (quoted.includes(fence)) fence += "`";
  return `${fence}text\n${quoted}\n${fence}`;
}

/** A title may hold an agent's word or path: it stays one line, so that it begins no section of its own. */
export function oneLine(title: string): string {
  return title
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, TITLE_CHARS);
}
