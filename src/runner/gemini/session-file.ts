// The usage of a Gemini CLI session from its chat record. Measured with 0.61.0: each answer of the model is a line with its id and its
// tokens; a line with the same id replaces it. A resumed session goes on in the same file.

import { homedir } from "node:os";
import { basename, join } from "node:path";
import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { count, type Fields, fields, list, parseLine, text } from "../loose-json.ts";
import {
  ANSWERS_AT_MOST,
  namesIn,
  openJournal,
  type SessionFolder,
  type SessionJournal,
  type SessionPlaces,
  type SessionTells,
  sessionFolders,
} from "../session-journal.ts";

export function openGeminiSession(id: string, places: SessionPlaces, tells: SessionTells): () => Usage | null {
  const { env, cwd } = places;
  const own = join(env["GEMINI_CLI_HOME"] ?? env["HOME"] ?? homedir(), ".gemini");
  let records: readonly ChatRecord[] = [];
  return () => {
    if (records.length === 0) records = sessionFolders(places, own).flatMap((folder) => findRecords(id, folder, cwd));
    for (const record of records) {
      record.journal.read({ line: (line) => readLine(record, line, id, tells), anew: () => record.answers.clear() });
    }
    const answers = records.flatMap((record) => (record.isOther ? [] : [...record.answers.values()]));
    return answers.reduce<Usage | null>((sum, each) => (sum === null ? each : addUsage(sum, each)), null);
  };
}

type ChatRecord = {
  readonly journal: SessionJournal;
  /** By the id of the message. */
  readonly answers: Map<string, Usage>;
  /** It belongs to another session: the names of files hold only the beginning of the id. */
  isOther: boolean;
};

function readLine(chat: ChatRecord, line: string, session: string, tells: SessionTells): void {
  if (!line.includes('"tokens"') && !line.includes('"sessionId"')) return;
  const record = fields(parseLine(line));
  const named = text(record["sessionId"]);
  if (named !== null && named !== session) chat.isOther = true;
  for (const message of [record, ...list(fields(record["$set"])["messages"]).map(fields)]) {
    const id = text(message["id"]);
    const usage = usageOf(fields(message["tokens"]));
    const isAnswer = message["type"] === "gemini" && id !== null && usage !== null;
    if (!isAnswer || chat.answers.size >= ANSWERS_AT_MOST) continue;
    if (!chat.answers.has(id)) tells.answer?.(usage);
    chat.answers.set(id, usage);
  }
}

function usageOf(tokens: Fields): Usage | null {
  const [input, output] = [count(tokens["input"]), count(tokens["output"])];
  if (input === null && output === null) return null;
  return {
    usd: null,
    inputTokens: input === null ? null : input + (count(tokens["tool"]) ?? 0),
    outputTokens: output === null ? null : output + (count(tokens["thoughts"]) ?? 0),
    cachedTokens: count(tokens["cached"]),
  };
}

const PROJECTS_AT_MOST = 5000;

/** `tmp/<name of the project>/chats/session-<time>-<first eight of the id>.jsonl`; the project's name begins like its folder's. */
function findRecords(id: string, folder: SessionFolder, cwd: string): readonly ChatRecord[] {
  const { root, path } = folder;
  const likely = basename(cwd).toLowerCase();
  const projects = namesIn(folder, join(path, "tmp")).slice(0, PROJECTS_AT_MOST);
  for (const project of projects.toSorted((one, other) => rank(one, likely) - rank(other, likely))) {
    const chats = join(path, "tmp", project, "chats");
    const own = namesIn(folder, chats).filter((name) => name.endsWith(`-${id.slice(0, 8)}.jsonl`));
    if (own.length > 0)
      return own.map((name) => ({ journal: openJournal(root, join(chats, name)), answers: new Map(), isOther: false }));
  }
  return [];
}

function rank(project: string, likely: string): number {
  return project.startsWith(likely) ? 0 : 1;
}
