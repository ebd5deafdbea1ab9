// The resources that a client reads by address: runs, their diffs and attempts, the inbox, flows. Each address is one call of the API with the
// rights of the token, and the answer has the same form as a tool's.

import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Resources } from "../../runner/desk/tools.ts";
import type { ApiProblem } from "../client/answer.ts";
import type { Caller } from "../client/client.ts";
import { ATTEMPT_FILES } from "../contract/schemas/run.ts";
import { toText } from "./text.ts";
import { until } from "./tool.ts";

type Found = Promise<Result<unknown, ApiProblem>>;

type Place = {
  /** An RFC 6570 template with simple names only; no name, no template. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly read: (client: Caller, names: Readonly<Record<string, string>>, signal: AbortSignal | undefined) => Found;
};

const LISTED_RUNS = 50;
const FILE_BYTES = 50_000;
/** An id that is none, or that nothing has. */
const NAMES_NOTHING: ReadonlySet<number> = new Set([400, 404]);
const MIME = "application/json";

const PLACES: readonly Place[] = [
  {
    uri: "passrail://inbox",
    name: "inbox",
    description: "What waits for a person",
    read: (client, _names, signal) => client.call("listInbox", {}, until(signal)),
  },
  {
    uri: "passrail://inbox/{item}",
    name: "item",
    description: "One item of the inbox with its evidence, as RUN.NUMBER",
    read: (client, { item = "" }, signal) => client.call("showItem", { params: { item } }, until(signal)),
  },
  {
    uri: "passrail://runs/{run}",
    name: "run",
    description: "A run: stages, attempts with verdicts, cost, open items",
    read: (client, { run = "" }, signal) => client.call("showRun", { params: { run } }, until(signal)),
  },
  {
    uri: "passrail://runs/{run}/diff",
    name: "diff",
    description: "What a run has changed",
    read: (client, { run = "" }, signal) => client.call("runDiff", { params: { run }, query: {} }, until(signal)),
  },
  {
    uri: "passrail://runs/{run}/attempts/{stage}/{attempt}/{file}",
    name: "attempt",
    description: `The beginning of a file of an attempt: ${ATTEMPT_FILES.join(", ")}`,
    read: async (client, { run = "", stage = "", attempt = "", file = "" }, signal) => {
      const known = ATTEMPT_FILES.find((each) => each === file);
      if (known === undefined || !/^[1-9]\d{0,5}$/u.test(attempt)) return { ok: false, error: NOTHING };
      const params = { run, stage, attempt: Number(attempt), file: known };
      return client.call("attemptFile", { params, query: { offset: 0, limit: FILE_BYTES } }, until(signal));
    },
  },
  {
    uri: "passrail://flows/{flow}",
    name: "flow",
    description: "A flow: its stages, who works there, how often it may loop",
    read: (client, { flow = "" }, signal) => client.call("showFlow", { params: { flow } }, until(signal)),
  },
];

const NOTHING: ApiProblem = { code: "resource_not_found", detail: "Nothing has this address.", hint: "", status: 404 };

export function createResources(client: Caller): Resources {
  return {
    async list(signal) {
      const runs = await client.call("listRuns", { query: { limit: LISTED_RUNS } }, until(signal));
      const fixed = PLACES.filter(({ uri }) => !uri.includes("{")).map(toEntry("uri"));
      if (!runs.ok) return fixed;
      const each = runs.value.runs.map(({ number, flow, word, subject }) => ({
        uri: `passrail://runs/${number}`,
        name: `run ${number}`,
        title: shown(`${number} · ${subject.title}`),
        description: shown(`${flow} · ${word}`),
        mimeType: MIME,
      }));
      return [...fixed, ...each];
    },
    templates: () => PLACES.filter(({ uri }) => uri.includes("{")).map(toEntry("uriTemplate")),
    async read(uri, signal) {
      const place = find(uri);
      if (place === undefined) return undefined;
      const found = await place.read(client, signal);
      if (!found.ok && NAMES_NOTHING.has(found.error.status)) return undefined;
      return [{ uri, mimeType: MIME, text: toText(found.ok ? found.value : { error: found.error }) }];
    },
  };
}

const toEntry =
  (key: "uri" | "uriTemplate") =>
  ({ uri, name, description }: Place): JsonObject => ({ [key]: uri, name, description, mimeType: MIME });

/** Titles come from tickets: one line, nothing hidden, not too long. */
function shown(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\s]+/gu, " ").trim();
  return plain.length > 120 ? `${plain.slice(0, 119)}…` : plain;
}

type Named = { read(client: Caller, signal: AbortSignal | undefined): Found };

/** Segment by segment: an address never reaches another route than the one it was written for. */
function find(uri: string): Named | undefined {
  const parts = uri.split("/");
  for (const { uri: template, read } of PLACES) {
    const wanted = template.split("/");
    if (wanted.length !== parts.length) continue;
    const names: Record<string, string> = {};
    const fits = wanted.every((piece, index) => {
      const part = parts[index] ?? "";
      const name = /^\{(\w+)\}$/u.exec(piece)?.[1];
      if (name === undefined) return piece === part;
      names[name] = decoded(part);
      return names[name] !== "";
    });
    if (fits) return { read: (client, signal) => read(client, names, signal) };
  }
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
