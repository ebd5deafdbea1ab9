// Markdown as agents write it in review and handoff files: lines, sections and list items, found by a line scan.
// It is not a Markdown parser; it recognises text that must not count as a statement: code, comments and quotes.

export type Line = {
  readonly text: string;
  /** `fence` is the line with the fence marks, `code` a line between two of them, `quote` begins with ">". */
  readonly kind: "text" | "quote" | "fence" | "code" | "comment";
};

export type Section = { readonly name: string; readonly lines: readonly Line[] };

/** An item of a list with its further lines, verbatim; `under` is the ### heading above it. */
export type MarkdownItem = { readonly text: string; readonly under: string | undefined };

export function markdownLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let fence = "";
  let inComment = false;
  for (const raw of text.split("\n")) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const solid = line.trimStart();
    const marks = fenceMarks(solid);
    if (fence !== "") {
      const closes = marks.length >= fence.length && marks[0] === fence[0] && solid.trimEnd() === marks;
      lines.push({ text: line, kind: closes ? "fence" : "code" });
      if (closes) fence = "";
    } else if (inComment || solid.startsWith("<!--")) {
      lines.push({ text: line, kind: "comment" });
      inComment = !line.includes("-->");
    } else if (marks !== "" && !(marks[0] === "`" && solid.includes("`", marks.length))) {
      lines.push({ text: line, kind: "fence" });
      fence = marks;
    } else lines.push({ text: line, kind: solid.startsWith(">") ? "quote" : "text" });
  }
  return lines;
}

/** The parts under `## ` headings, in order. Names are lower-case with single spaces, so that "Quality-Gate Results" is one name. */
export function sectionsOf(lines: readonly Line[]): readonly Section[] {
  const sections: { name: string; lines: Line[] }[] = [];
  let current: Line[] | undefined;
  for (const line of lines) {
    const level = line.kind === "text" ? headingLevel(line.text) : 0;
    if (level === 1) current = undefined;
    else if (level === 2) {
      current = [];
      sections.push({ name: sectionUnder(line.text), lines: current });
    } else current?.push(line);
  }
  return sections;
}

/** The name of the section under a `## ` heading, in the form of `Section.name`. */
export function sectionUnder(heading: string): string {
  return sectionName(headingText(heading));
}

/** List items with the lines that belong to them; text without any list gives one item per paragraph. */
export function itemsOf(lines: readonly Line[]): readonly MarkdownItem[] {
  const items: { parts: string[]; under: string | undefined }[] = [];
  const isList = lines.some(({ text, kind }) => kind === "text" && markerLength(text) > 0);
  let under: string | undefined;
  let open: string[] | undefined;
  let indent: number | undefined;
  let afterBlank = false;
  for (const { text, kind } of lines) {
    if (kind === "comment") continue;
    const isBlank = text.trim() === "";
    const marker = kind === "text" ? markerLength(text) : 0;
    const depth = text.length - text.trimStart().length;
    if (kind === "text" && headingLevel(text) >= 3) {
      under = headingText(text);
      open = undefined;
    } else if (marker > 0 && depth <= (indent ?? depth)) {
      indent = depth;
      open = [text.slice(marker)];
      items.push({ parts: open, under });
    } else if (isList) {
      // A paragraph that is not indented ends the item above it.
      if (afterBlank && !isBlank && kind === "text" && depth <= (indent ?? 0)) open = undefined;
      open?.push(text);
    } else if (isBlank) open = undefined;
    else if (open) open.push(text);
    else {
      open = [text];
      items.push({ parts: open, under });
    }
    afterBlank = isBlank;
  }
  return items
    .map(({ parts, under }) => ({ text: parts.join("\n").trim(), under }))
    .filter(({ text }) => !isNone(text));
}

/** "None", "n/a", "-" and an empty text all mean none (R-002-31). */
export function isNone(text: string): boolean {
  if (text.length > 40) return false;
  const word = asciiLower(plain(text)).replace(/\.$/, "");
  return ["", "none", "n/a", "-", "–", "—"].includes(word);
}

/** The text without code and emphasis marks. */
export function plain(text: string): string {
  return text.replaceAll("`", "").replaceAll("*", "").trim();
}

/** Lower case for A–Z only: other alphabets have letters whose lower or upper case is a plain Latin one. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Length of a list marker with the white space around it: "- ", "* ", "+ ", "1. ", "1) "; 0 when there is none. */
export function markerLength(text: string): number {
  const start = text.length - text.trimStart().length;
  let at = start;
  if ("-*+".includes(text[at] || "x")) at += 1;
  else {
    while (at < start + 4 && isDigit(text[at])) at += 1;
    if (at === start || (text[at] !== "." && text[at] !== ")")) return 0;
    at += 1;
  }
  if (at === text.length) return at;
  if (text[at] !== " " && text[at] !== "\t") return 0;
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= "0" && char <= "9";
}

function fenceMarks(solid: string): string {
  const mark = solid[0];
  if (mark !== "`" && mark !== "~") return "";
  let length = 1;
  while (solid[length] === mark) length += 1;
  return length >= 3 ? solid.slice(0, length) : "";
}

export function headingLevel(text: string): number {
  const solid = text.trimStart();
  let level = 0;
  while (level < 7 && solid[level] === "#") level += 1;
  return level > 0 && level < 7 && (solid[level] === " " || solid[level] === "\t") ? level : 0;
}

export function headingText(text: string): string {
  let end = text.trimEnd().length;
  while (end > 0 && text[end - 1] === "#") end -= 1;
  const solid = text.slice(0, end).trimStart();
  return solid.slice(headingLevel(`${solid} `)).trim();
}

function sectionName(heading: string): string {
  return asciiLower(plain(heading.slice(0, 200)).replaceAll("-", " "))
    .split(/\s+/)
    .join(" ");
}
