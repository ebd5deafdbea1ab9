// Plays the four agents of the flow `feature` for the dashboard demo: works on the titles library and ends with the JSON block that the
// flow asks for. QA really imports the build: the first slugify forgets accents, so QA returns it once.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { PASSRAIL_STAGE: stage, PASSRAIL_AGENT: agent, PASSRAIL_SUBJECT_ID: subject } = process.env;
const thinkMs = Number(process.argv[2] ?? 0);
const FILE = "src/titles.mjs";
const MARK = "\n/** Made by the demo. */";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const prompt = Buffer.concat(chunks).toString("utf8");
const isSlug = prompt.includes("slugify");
const name = isSlug ? "slugify" : "countWords";

const PARTS = {
  async spec() {
    await say(`Reading the request for ${name}`, "Looking at src/titles.mjs");
    write(
      `docs/${name}.md`,
      isSlug
        ? "# slugify\n\nLetters and digits stay, accents are folded, the rest becomes one dash.\n"
        : "# countWords\n\nWords are separated by white space.\n",
    );
    commit(`docs: say what ${name} does`);
    return { verdict: "APPROVED", summary: `docs/${name}.md says what it does` };
  },
  async design() {
    await say("One pure function beside capitalize", "No new dependency");
    return { verdict: "APPROVED", summary: "One pure function in src/titles.mjs" };
  },
  async build() {
    const isAgain = Number(process.env.PASSRAIL_LOOP) > 0 && prompt.includes("creme-brulee");
    await say(isAgain ? "QA named an accent; folding accents now" : `Writing ${name}`, `Edit ${FILE}`);
    const [kept] = readFileSync(FILE, "utf8").split(MARK);
    const fold = isAgain ? '.normalize("NFD").replaceAll(/\\p{Mark}/gu, "")' : "";
    const body = isSlug
      ? `return title${fold}.toLowerCase().split(/[^\\p{Letter}\\p{Number}]+/u).filter((word) => word !== "").join("-");`
      : 'return title.split(/\\s+/u).filter((word) => word !== "").length;';
    write(FILE, `${kept.trimEnd()}\n${MARK}\nexport function ${name}(title) {\n  ${body}\n}\n`);
    commit(isAgain ? `fix: ${name} folds accents` : `feat: add ${name}`);
    return { verdict: "COMPLETE", summary: isAgain ? `${name} folds accents` : `${name} is in ${FILE}` };
  },
  async qa() {
    await say("Importing the module as it is in the workspace");
    const found = (await import(pathToFileURL(resolve(FILE)).href))[name];
    const cases = isSlug
      ? [
          ["Hello World", "hello-world"],
          ["Crème Brûlée", "creme-brulee"],
        ]
      : [
          ["two words", 2],
          ["", 0],
        ];
    const issues = [];
    for (const [given, expected] of cases) {
      const got = found(given);
      await say(
        `${got === expected ? "\u001b[32mok\u001b[0m  " : "\u001b[31mfail\u001b[0m"} ${name}("${given}") = ${got}`,
      );
      if (got !== expected)
        issues.push({
          severity: "high",
          description: `${name}("${given}") gives ${got}, not ${expected}`,
          file: FILE,
          line: 8,
        });
    }
    return issues.length === 0
      ? { verdict: "SHIP", summary: `${cases.length} of ${cases.length} cases pass`, ...answers() }
      : { verdict: "REVISE", issues, summary: `${issues.length} of ${cases.length} cases fail` };
  },
};

const report = await PARTS[stage]();
const [, nonce] = /\/verdict\.json`[^]*?"nonce": "([^"]*)"/u.exec(prompt);
console.log(`\n\`\`\`json\n${JSON.stringify({ feature_id: subject, agent, nonce, ...report }, null, 2)}\n\`\`\``);

/** What became of the findings of its earlier reviews: all cases pass now. */
function answers() {
  const open = /## Open findings of your earlier reviews([^]*?)Begin with these:/u.exec(prompt)?.[1] ?? "";
  const findings = [...open.matchAll(/^(F[0-9]+) /gmu)].map(([, id]) => ({
    id,
    state: "fixed",
    reason: "the case passes",
  }));
  return findings.length === 0 ? {} : { findings };
}

async function say(...lines) {
  for (const line of lines) {
    console.log(line);
    await pause(thinkMs / lines.length);
  }
}

function write(path, text) {
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

function commit(message) {
  execFileSync("git", ["add", "--all"], { stdio: "ignore" });
  const who = ["-c", "user.name=Demo", "-c", "user.email=demo@example.invalid"];
  execFileSync("git", [...who, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", message], {
    stdio: "ignore",
  });
}
