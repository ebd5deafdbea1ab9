// Imports the function from the workspace, calls it, and reports the result as its verdict.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readPrompt, report } from "./agent.mjs";

await readPrompt();
const { slugify } = await import(pathToFileURL(resolve("src/titles.mjs")).href);
const keepsAccents = readFileSync("docs/slugify.md", "utf8").includes("Accents are kept");
const cases = [
  ["Hello World", "hello-world"],
  ["  two  --  words ", "two-words"],
  ["Crème Brûlée", keepsAccents ? "crème-brûlée" : "creme-brulee"],
];
const issues = cases.flatMap(([title, expected]) => {
  const found = slugify(title);
  return found === expected ? [] : [`slugify("${title}") gives ${found}, not ${expected}`];
});
report(
  issues.length === 0
    ? { verdict: "SHIP", summary: `${cases.length} of ${cases.length} cases pass` }
    : { verdict: "REVISE", issues, summary: `${issues.length} of ${cases.length} cases fail` },
);
