// Writes the specification. It must not decide about accents, so it asks first.

import { mkdirSync, writeFileSync } from "node:fs";
import { blockOf, commit, readPrompt, report } from "./agent.mjs";

const answer = blockOf(await readPrompt(), "Answer of the person");
if (answer === "") {
  report({
    health: "blocked",
    questions: ["Shall accents be kept or folded? Crème brûlée could become creme-brulee."],
  });
} else {
  const accents = answer.includes("keep") ? "Accents are kept." : "Accents are folded: Crème becomes creme.";
  const lines = ["# slugify(title)", "", "- Lower case.", "- Words are joined by one dash.", `- ${accents}`, ""];
  mkdirSync("docs", { recursive: true });
  writeFileSync("docs/slugify.md", lines.join("\n"));
  commit("docs: specify slugify");
  report({ verdict: "DONE", summary: "docs/slugify.md says what is to be built" });
}
