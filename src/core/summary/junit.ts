// JUnit's XML: every test case counts once, by its content. Attributes with sums are ignored: tools disagree about them. The
// scanner goes over the text once, expands nothing and follows no declaration.

import type { CheckCounts } from "../flow/check-result.ts";
import { countsOf } from "./counts.ts";

type CaseState = "passed" | "failed" | "errors" | "skipped";

export function junitCounts(text: string): CheckCounts | undefined {
  const counts = { passed: 0, failed: 0, errors: 0, skipped: 0 };
  let open: CaseState | undefined;
  let hasSuite = false;
  for (let at = text.indexOf("<"); at !== -1; ) {
    const skipped = skip(text, at);
    if (skipped !== undefined) {
      at = text.indexOf("<", skipped);
      continue;
    }
    const end = tagEnd(text, at);
    const name = /^<\/?([A-Za-z]{1,40})/u.exec(text.slice(at, at + 50))?.[1];
    const isClosing = text[at + 1] === "/";
    if (name === "testsuites" || name === "testsuite") hasSuite = true;
    if (name === "testcase") {
      if (isClosing) {
        if (open !== undefined) counts[open] += 1;
        open = undefined;
      } else if (text[end - 1] === "/") counts.passed += 1;
      else open = "passed";
    } else if (open !== undefined && !isClosing) open = worse(open, name);
    at = text.indexOf("<", end);
  }
  // A file that was cut off in a case: its test did not pass.
  if (open !== undefined) counts.errors += 1;
  const total = counts.passed + counts.failed + counts.errors + counts.skipped;
  return total > 0 || hasSuite ? countsOf(counts) : undefined;
}

function worse(state: CaseState, name: string | undefined): CaseState {
  if (name === "failure") return "failed";
  if (name === "error") return "errors";
  return name === "skipped" && state === "passed" ? "skipped" : state;
}

/** Behind a comment, a CDATA section or a declaration; undefined if none begins here. */
function skip(text: string, at: number): number | undefined {
  for (const [begin, end] of [
    ["<!--", "-->"],
    ["<![CDATA[", "]]>"],
    ["<?", "?>"],
    ["<!", ">"],
  ] as const) {
    if (!text.startsWith(begin, at)) continue;
    const found = text.indexOf(end, at + begin.length);
    return found === -1 ? text.length : found + end.length;
  }
  return undefined;
}

/** The `>` of a tag; one inside a quoted attribute does not end it. */
function tagEnd(text: string, at: number): number {
  let quote = "";
  for (let index = at + 1; index < text.length; index += 1) {
    const char = text[index] ?? "";
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ">") return index;
  }
  return text.length;
}
