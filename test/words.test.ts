// Comments and documentation name who acts: words that hide the actor, and first sentences without a subject, must not come back.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const HIDDEN_ACTOR = /\b(?:nobody|somebody|whoever|goes on)\b/iu;

/** These still have the old words in their comments. Take a folder out when its comments are rewritten; add none. */
const OLD = /^src\/(?:attempt|carrier|claim|engine|gateway|git|runner|workspace)\//u;

function inSource(path: string, text: string): readonly string[] {
  const found = text.split("\n").flatMap((line, index) => {
    const comment = /^\s*(?:\/\/|\/?\*+)\s?(.*)$/u.exec(line)?.[1];
    return comment !== undefined && isWrong(comment) ? [`${path}:${index + 1} ${comment}`] : [];
  });
  return /^\/\/ What [^?]*$/mu.exec(text)?.index === 0
    ? [`${path}:1 a first sentence without a subject`, ...found]
    : found;
}

/** Names in `code`, such as the user `nobody`, are no prose; neither are blocks of code and their output. */
function inPage(path: string, text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gmu, (block) => block.replaceAll(/[^\n]/gu, ""));
  return prose.split("\n").flatMap((line, index) => (isWrong(line) ? [`${path}:${index + 1} ${line}`] : []));
}

function isWrong(line: string): boolean {
  return HIDDEN_ACTOR.test(line.replaceAll(/`[^`]*`/gu, ""));
}

test("comments and documentation name who acts", () => {
  const sources = globSync(["src/**/*.{ts,tsx}", "web/src/**/*.{ts,tsx}"], { cwd: ROOT }).filter(
    (path) => !OLD.test(path),
  );
  const pages = globSync(["docs/*.md", "README.md", "CONTRIBUTING.md"], { cwd: ROOT });
  expect([sources.length > 1000, pages.length > 30], "too few files were read").toEqual([true, true]);
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  expect([
    ...sources.flatMap((path) => inSource(path, read(path))),
    ...pages.flatMap((path) => inPage(path, read(path))),
  ]).toEqual([]);
});

test("planted words are found in comments and pages, and not in code", () => {
  const source = `// What a run costs.\n\n/** The agent goes on. */\nconst nobody = "somebody goes on"; // \`nobody\`\n  // Whoever asks.\n`;
  expect(inSource("a.ts", source)).toEqual([
    "a.ts:1 a first sentence without a subject",
    "a.ts:3 The agent goes on. */",
    "a.ts:5 Whoever asks.",
  ]);
  const page = "Files of `nobody`.\n```\nnobody\n```\nSomebody reads it.\n";
  expect(inPage("a.md", page)).toEqual(["a.md:5 Somebody reads it."]);
});
