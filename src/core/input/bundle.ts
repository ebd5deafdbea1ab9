// The bundle of one kind of agent (002): the project's rules, pointers into spec, plan and task, and the rows that this role must meet. A pure
// function of the copies that a person agreed to, most static first; the same copies give the same bytes.

import { asciiLower, itemsOf, markdownLines } from "../verdict/markdown.ts";
import { type MarkdownSection, namedIn, sectionsIn } from "./sections.ts";

export type BundleFile = { readonly path: string; readonly sha256: string; readonly text: string };

export type BundleSources = {
  readonly rules: readonly BundleFile[];
  readonly spec?: BundleFile;
  readonly plan?: BundleFile;
  readonly task?: BundleFile;
  /** Instead of a task file. */
  readonly ticket: { readonly id: string; readonly title: string; readonly body: string };
};

export type BundleRole = "dev" | "tester";

export const BUNDLE_ROLES: readonly BundleRole[] = ["dev", "tester"];

/** A pointer replaces the spec's text: every prompt shows that once, after the bundle. */
const DIGEST_LINES = 15;
const LINE_CHARS = 200;
/** Of the plan; the rest is named by its headings. */
const PLAN_LINES = 200;
const ROWS_AT_MOST = 100;

export function composeBundle(role: BundleRole, sources: BundleSources): string {
  const { rules, spec, plan, task, ticket } = sources;
  const asked = task?.text ?? ticket.body;
  const parts = [
    role === "dev" ? "# Bundle for those who build" : "# Bundle for those who test",
    ...rules.map(({ path, text }) => `## Project rules: ${path}\n\n${text.trim()}`),
    spec === undefined ? "" : specPart(role, spec, `${asked}\n${plan?.text ?? ""}`),
    plan === undefined ? "" : planPart(role, plan, asked),
    task === undefined
      ? `## Ticket ${ticket.id}: ${ticket.title}\n\n${rowsPart(role, ticket.body)}`
      : `## The task: ${pointer(task)}\n\n${rowsPart(role, task.text)}`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** `lines` of a bundle, as people count them. */
export function bundleLines(text: string): number {
  return text.split("\n").length - 1;
}

function pointer({ path, sha256, text }: BundleFile): string {
  return `${path} (${text.split("\n").length} lines, sha256 ${sha256.slice(0, 12)})`;
}

/** Where to look, not what it says: at most 15 lines. */
function specPart(role: BundleRole, spec: BundleFile, referring: string): string {
  const sections = sectionsIn(spec.text);
  const named = namedIn(sections, referring);
  const chosen = named.length > 0 ? named : sections.filter(({ level }) => level <= 2);
  const criteria = sections.filter(isAbout(CRITERIA)).flatMap((section) => criteriaIn(section));
  const places = chosen.map(({ title, line, lastLine }) => `- lines ${line}–${lastLine}: ${title}`);
  const digest = role === "tester" ? [...criteria, ...places] : [...places, ...criteria];
  const shown = digest.slice(0, DIGEST_LINES - 1).map(cut);
  const left = digest.length - shown.length;
  return [`## The spec: ${pointer(spec)}`, "", ...shown, ...(left > 0 ? [`- ${left} more`] : [])].join("\n");
}

function criteriaIn({ text, line }: MarkdownSection): readonly string[] {
  return itemsOf(markdownLines(text).slice(1)).map((item) => `- criterion (line ${line} ff.): ${oneLine(item.text)}`);
}

/** The sections that the task refers to; without any, those of the role; a plan without headings as it is. */
function planPart(role: BundleRole, plan: BundleFile, asked: string): string {
  const sections = sectionsIn(plan.text);
  const named = namedIn(sections, asked);
  const own = sections.filter((section) => (role === "tester" ? isAbout(TESTS)(section) : !isAbout(TESTS)(section)));
  const chosen = named.length > 0 ? [...named, ...own.filter(isAbout(SHARED))] : own.length > 0 ? own : sections;
  const inOrder = sections.filter((section) => chosen.includes(section));
  const whole = sections.length === 0 ? plan.text.trim() : inOrder.map(({ text }) => text).join("\n\n");
  const lines = whole.split("\n");
  const others = sections.filter((section) => !chosen.includes(section));
  return [
    `## The plan: ${pointer(plan)}`,
    "",
    ...lines.slice(0, PLAN_LINES),
    ...(lines.length > PLAN_LINES ? [`(${lines.length - PLAN_LINES} more lines of it)`] : []),
    ...(others.length === 0
      ? []
      : [
          "",
          `Not for this role: ${others
            .map(({ title }) => title)
            .join("; ")
            .slice(0, 1000)}`,
        ]),
  ].join("\n");
}

/** The rows of the task that this role must meet, word for word. */
function rowsPart(role: BundleRole, text: string): string {
  const rows = dodRows(text);
  const own = rows.filter((row) => row.isTesters === (role === "tester"));
  const others = rows.length - own.length;
  if (rows.length === 0) return "It has no rows to tick (`- [ ] …`): its whole text counts.";
  const heading = role === "tester" ? "Rows for the tester:" : "Rows for the developer:";
  const left =
    others === 0
      ? []
      : [`${others} further ${role === "tester" ? "rows are the developer's" : "rows are the tester's"}.`];
  return [heading, ...own.slice(0, ROWS_AT_MOST).map(({ text: row }) => `- [ ] ${oneLine(row)}`), ...left].join("\n");
}

/** `- [ ] row`; a row belongs to the tester if it says so, or is under a heading about tests. */
function dodRows(text: string): readonly { readonly text: string; readonly isTesters: boolean }[] {
  const rows: { text: string; isTesters: boolean }[] = [];
  let underTests = false;
  for (const { text: line, kind } of markdownLines(text)) {
    if (kind !== "text") continue;
    const solid = line.trimStart();
    if (solid.startsWith("#")) underTests = TESTS.test(solid.slice(0, LINE_CHARS));
    const [, row] = /^[-*+] \[[ xX]\] (\S.*)$/u.exec(solid.slice(0, 2000)) ?? [];
    if (row !== undefined) rows.push({ text: row, isTesters: underTests || TESTER.test(asciiLower(row)) });
  }
  return rows;
}

const TESTER = /\btester\b/u;
const TESTS = /\b(?:test|tests|testing|qa|verification)\b/iu;
const CRITERIA = /\b(?:acceptance|criteria|definition of done|dod)\b/iu;
/** Both roles need these: the contracts between the parts. */
const SHARED = /\b(?:contract|contracts|interface|interfaces|api)\b/iu;

function isAbout(subject: RegExp): (section: MarkdownSection) => boolean {
  return ({ title }) => subject.test(title);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

function cut(line: string): string {
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line;
}
