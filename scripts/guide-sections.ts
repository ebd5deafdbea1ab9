// The headings of a page, their anchors, and what the search knows of each section.

import type { ReactNode } from "react";
import type { GuidePage } from "./guide.ts";

export type GuideSection = {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
};

/** Enough to find a section and to show why it was found. */
const TEXT_CHARS = 700;

type Heading = { readonly title: string; readonly at: number; readonly end: number };

export function headingsOf(text: string): readonly Heading[] {
  // Lines of code blocks are no headings.
  const masked = text.replaceAll(/^ {0,3}```[\s\S]*?^ {0,3}```/gmu, (block) => block.replaceAll("#", " "));
  return [...masked.matchAll(/^#{1,4} (.+)$/gmu)].map((match) => ({
    title: text
      .slice(match.index, match.index + match[0].length)
      .replace(/^#+ /u, "")
      .replaceAll(/[`*]/gu, "")
      .trim(),
    at: match.index,
    end: match.index + match[0].length,
  }));
}

export function sectionsOf({ name, title, text }: GuidePage): readonly GuideSection[] {
  const seen = new Map<string, number>();
  const headings = headingsOf(text);
  return headings.map(({ title: heading, end }, index) => ({
    page: `${name}.html`,
    title,
    heading,
    anchor: slugOf(heading, seen),
    text: text
      .slice(end, headings[index + 1]?.at)
      .replaceAll(/[`*|\\]|\]\([^)]*\)|\[|^-+$/gmu, " ")
      .replaceAll(/\s+/gu, " ")
      .trim()
      .slice(0, TEXT_CHARS),
  }));
}

/** As GitHub makes them, so that one link works there and here. */
export function slugOf(title: string, seen: Map<string, number>): string {
  const base = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/gu, "-");
  const times = seen.get(base) ?? 0;
  seen.set(base, times + 1);
  return times === 0 ? base : `${base}-${times}`;
}

export function textOf(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map((each: ReactNode) => textOf(each)).join("");
  if (node !== null && typeof node === "object" && "props" in node)
    return textOf((node.props as { readonly children?: ReactNode }).children);
  return "";
}
