// Writes the section of the README. It misses the editor's point until a person explains it in a note.

import { readFileSync, writeFileSync } from "node:fs";
import { attempt, blockOf, commit, readPrompt, report } from "./agent.mjs";

const note = blockOf(await readPrompt(), "Note of the person");
const [head] = readFileSync("README.md", "utf8").split("\n## slugify");
const praise =
  ["Makes slugs.", "Makes very good slugs."][attempt - 1] ?? `Makes a title part of an address (${attempt}).`;
const example = note === "" ? "" : '\n```js\nslugify("Crème Brûlée"); // "creme-brulee"\n```\n';
writeFileSync("README.md", `${head.trimEnd()}\n\n## slugify\n\n${praise}\n${example}`);
commit(example === "" ? "docs: describe slugify" : "docs: show slugify with an example");
report({ verdict: "DONE", summary: "the README has a section about slugify" });
