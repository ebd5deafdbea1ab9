// `node scripts/error-reference.ts` writes docs/errors.md: every code that Passrail can print, with the product's own words.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROBLEMS } from "../src/http/contract/problem.ts";
import { type ErrorCode, errorCodes } from "./error-codes.ts";

const ROOT = join(import.meta.dirname, "..");
export const ERRORS_PATH = join(ROOT, "docs/errors.md");

/** What is wrong in general, by the folder of the code; the first that fits. */
const SUBJECTS: readonly (readonly [folder: string, about: string])[] = [
  ["catalog", "a flow, agent or prompt file: `passrail flow check` shows the line"],
  ["core", "a flow, a ticket or a verdict: `passrail flow check` and `passrail runs show RUN` show the place"],
  ["settings", "the settings: `passrail config list` shows where each value comes from"],
  ["git", "the repository: `passrail doctor` looks at it"],
  ["workspace", "the place where agents work: `passrail workspace list`"],
  ["runner", "the program that plays an agent: `passrail agent list`"],
  ["forge", "the way to the remote: `passrail doctor` looks at it"],
  ["store", "the store in the state folder: `passrail verify`"],
  ["ticket", "a ticket or its landing: `passrail explain TICKET`"],
  ["http", "a request to the API: [api.md](api.md)"],
  ["notify", "a notification: `passrail webhook endpoints`"],
  ["worker", "a worker on another machine: [scaling.md](scaling.md)"],
  ["claim", "a worker on another machine: [scaling.md](scaling.md)"],
];

/** Where the source passes on words of another program or of the person. */
const OWN: Readonly<Record<string, readonly [meaning: string, todo: string]>> = {
  branch_busy: ["Another process is just creating this branch or moving it.", "try again"],
  data_dir_unsafe: [
    "Other users can read or change the state folder, or it is on a disk that cannot lock files.",
    "make it yours alone with chmod 700, or choose another one with PASSRAIL_HOME",
  ],
  database_invalid: [
    "The address or the file of the database in your settings cannot be used.",
    "an address looks like this: postgres://passrail@localhost/passrail",
  ],
  demo_failed: ["The demo could not start; the message is of what failed.", "passrail doctor"],
  discard_refused: ["The work was not discarded; the message says why.", "passrail runs show RUN"],
  fatal: [
    "passrail work ended because of an error; the message is of what failed.",
    "passrail doctor, then again; with PASSRAIL_DEBUG=1 it prints where it happened",
  ],
  files_removed: [
    "The files of this attempt were removed because of their age or size; the message says when.",
    "passrail config explain retention.files.age",
  ],
  flow_tests_invalid: [
    "A file of .passrail/flow-tests cannot be read as a list of cases.",
    "docs/flows.md has an example",
  ],
  invalid_arguments: [
    "A client called a tool of the MCP server with arguments that it does not take.",
    "the tool's own schema has the arguments: docs/mcp.md",
  ],
  invalid_outcome: [
    "An entry of the list of outcomes for flow simulate is not understood.",
    "docs/flows.md has the format; without --outcomes, passrail flow simulate asks",
  ],
  mcp_config_invalid: [
    "A file of MCP servers cannot be read.",
    '{ "mcpServers": { "NAME": { "command": "…", "args": ["…"] } } }',
  ],
  model_refused: [
    "The vendor does not offer this model to your login, or does not know it.",
    "passrail runs retry RUN --model STAGE=MODEL, or another model in passrail.yaml",
  ],
  no_agent_ready: [
    "No coding agent is installed and logged in, and no program of your own was named.",
    "passrail agent list shows the command that installs or logs in each; --agent '*=COMMAND' lets a program of your own play; passrail demo needs none",
  ],
  not_proven: [
    "The remote was asked whether the work is there, and did not prove it. Nothing was marked as landed.",
    "git fetch, look at the target, then passrail merge RUN again",
  ],
  not_wanted: [
    "The run was canceled, paused or moved on meanwhile, so the act was left out.",
    "passrail runs show RUN",
  ],
  preflight_failed: [
    "The project is not as the flow expects it: changed files, or another branch is checked out.",
    "commit, stash or switch; or start from what is committed with the flag that the hint names",
  ],
  run_not_ended: ["The run has not ended.", "passrail runs cancel RUN, or wait for its end"],
  unexpected: ["Something that Passrail does not know failed.", "PASSRAIL_DEBUG=1 prints where; please report it"],
  verdict_invalid_json: [
    "The verdict that an agent wrote is not JSON; the message has the place.",
    "the agent is asked once more; passrail runs logs RUN shows what it wrote",
  ],
};

/** Inside only: no person and no client sees them. */
const INSIDE = new Set(["not_needed"]);

const HEAD = `# Errors by code

Every error has a code that does not change its meaning: the last line on the terminal (\`exit 2, code unknown_flow\`), \`error.code\` with \`--json\`, \`code\` in the API's answers. \`passrail help errors CODE\` prints the entry of this page. The
sentences are Passrail's own; \`…\` stands for what is known only when it happens. \`node scripts/error-reference.ts\` writes this page from the source.

Codes that begin with \`e\` and have no entry here, such as \`enoent\`, are the operating system's; \`PASSRAIL_DEBUG=1\` prints where one happened.
`;

export function productCodes(): readonly ErrorCode[] {
  const paths = globSync("src/**/*.ts", { cwd: ROOT }).filter((path) => !/\.(test|testsuite)\.ts$/u.test(path));
  return withProblems(errorCodes(new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]))));
}

/** The API's own table, also codes that the source writes at one place only. */
function withProblems(found: readonly ErrorCode[]): readonly ErrorCode[] {
  const known = new Map(found.map((each) => [each.code, each]));
  for (const code of Object.keys(PROBLEMS))
    if (!known.has(code)) known.set(code, { code, messages: [], hints: [], folders: ["http"] });
  return [...known.values()].filter(({ code }) => !INSIDE.has(code)).toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

function errorReference(codes: readonly ErrorCode[]): string {
  return `${HEAD}\n${codes.map(entryOf).join("\n")}`;
}

function entryOf({ code, messages, hints, folders }: ErrorCode): string {
  const [status, title] = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS] : [null, null];
  const own = Object.hasOwn(OWN, code) ? OWN[code] : undefined;
  const meaning = own === undefined ? [...(title === null ? [] : [`${title}.`]), ...messages.slice(0, 4)] : [own[0]];
  const advice = own === undefined ? hints : [own[1]];
  const subject = SUBJECTS.find(([folder]) => folders.includes(folder))?.[1];
  // Words of another program: OWN should say what it means.
  const said =
    meaning.length > 0
      ? meaning
      : [`${code.replaceAll("_", " ")}: the message has the words of the program that said so.`];
  const todo = advice.length > 0 ? advice.slice(0, 4) : [subject ?? "the command's `--help`, and at [cli.md](cli.md)"];
  return [
    `## ${code}`,
    "",
    ...said.map((line) => `- ${cell(line)}`),
    ...todo.map((line) => `- **To do:** ${advice.length > 0 ? cell(line) : `look at ${line}`}`),
    ...(status === null ? [] : [`- In the API: status ${status}.`]),
    "",
  ].join("\n");
}

/** As text: nothing of it is Markdown. */
function cell(line: string): string {
  const text = line.replaceAll(/\s*\n\s*/gu, "; ").trim();
  return text.replaceAll(/[`*_<>[\]|\\]/gu, String.raw`\$&`);
}

if (import.meta.main) writeFileSync(ERRORS_PATH, errorReference(productCodes()));
