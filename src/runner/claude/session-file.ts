// The usage of a Claude Code session from its transcript. Measured with 2.1.325: each answer of the model is written with its id and its
// final numbers, once per block; the live output shows only the tokens at its beginning. Sub-agents have files beside it. Dollars are
// reckoned from the tokens (prices.ts): the program tells them only at its end.

import { homedir } from "node:os";
import { join } from "node:path";
import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { fields, parseLine, text } from "../loose-json.ts";
import {
  ANSWERS_AT_MOST,
  namesIn,
  openJournal,
  type SessionFolder,
  type SessionJournal,
  type SessionPlaces,
  sessionFolders,
} from "../session-journal.ts";
import { costOf } from "./prices.ts";
import { messageUsage } from "./usage.ts";

export function openClaudeSession(id: string, places: SessionPlaces): () => Usage | null {
  const { env, cwd } = places;
  const answers = new Map<string, Usage>();
  const own = env["CLAUDE_CONFIG_DIR"] ?? join(env["HOME"] ?? homedir(), ".claude");
  const journals = new Map<string, SessionJournal>();
  let found: readonly Project[] = [];
  return () => {
    if (found.length === 0) found = sessionFolders(places, own).flatMap((folder) => projectsWith(id, folder, cwd));
    for (const { folder, path: project } of found) {
      for (const path of transcriptsOf(folder, project, id)) {
        const journal = journals.get(path) ?? openJournal(folder.root, path);
        journals.set(path, journal);
        journal.read({ line: (line) => readLine(answers, line), anew: () => {} });
      }
    }
    return sumOf([...answers.values()]);
  };
}

type Project = { readonly folder: SessionFolder; readonly path: string };

function readLine(answers: Map<string, Usage>, line: string): void {
  if (!line.includes('"usage"') || !line.includes('"assistant"')) return;
  const entry = fields(parseLine(line));
  const message = fields(entry["message"]);
  const id = text(message["id"]);
  const usage = messageUsage(message["usage"]);
  if (entry["type"] !== "assistant" || id === null || usage.inputTokens === null) return;
  const model = text(message["model"]);
  // Claude Code's own words, for which no model was asked.
  if (model === "<synthetic>") return;
  const before = answers.get(id);
  if (before !== undefined && (before.outputTokens ?? 0) > (usage.outputTokens ?? 0)) return;
  if (answers.size < ANSWERS_AT_MOST) answers.set(id, { ...usage, usd: costOf(model, message["usage"]) });
}

/** Dollars are unknown as soon as those of one answer are. */
function sumOf(answers: readonly Usage[]): Usage | null {
  if (answers.length === 0) return null;
  const sum = answers.reduce(addUsage);
  return answers.some(({ usd }) => usd === null) ? { ...sum, usd: null } : sum;
}

const PROJECTS_AT_MOST = 5000;
const SUBAGENTS_AT_MOST = 500;

/** The folder named like the workspace; a session that was continued from elsewhere may be in several. */
function projectsWith(id: string, folder: SessionFolder, cwd: string): readonly Project[] {
  const projects = join(folder.path, "projects");
  const likely = cwd.replaceAll(/[^A-Za-z0-9]/gu, "-");
  const names = namesIn(folder, projects).slice(0, PROJECTS_AT_MOST);
  const holds = (name: string): boolean => namesIn(folder, join(projects, name)).includes(`${id}.jsonl`);
  return (holds(likely) ? [likely] : names.filter(holds)).map((name) => ({ folder, path: join(projects, name) }));
}

function transcriptsOf(folder: SessionFolder, project: string, id: string): readonly string[] {
  const subagents = join(project, id, "subagents");
  const files = namesIn(folder, subagents).filter((name) => name.endsWith(".jsonl"));
  return [join(project, `${id}.jsonl`), ...files.slice(0, SUBAGENTS_AT_MOST).map((name) => join(subagents, name))];
}
