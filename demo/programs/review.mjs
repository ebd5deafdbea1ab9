// Reads the README, and returns it if it has no example.

import { readFileSync } from "node:fs";
import { readPrompt, report } from "./agent.mjs";

await readPrompt();
const section = readFileSync("README.md", "utf8").split("\n## slugify")[1] ?? "";
report(
  section.includes("```")
    ? { verdict: "DONE", summary: "a reader can use it" }
    : { verdict: "REVISE", issues: ["the section has no usage that a reader could copy"] },
);
