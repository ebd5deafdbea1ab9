// The values that an argument or an option can take, by its name: ids from the store, names from files, fixed words.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { listProjects } from "../../../app/projects.ts";
import { PROGRAMS } from "../../../core/flow/runner-names.ts";
import { WORKSPACE_MODES } from "../../../core/flow/workspace-mode.ts";
import { shippedDir } from "../../../settings/site.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { Store } from "../../../store/store.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";

export type CompletedWord = { readonly word: string; readonly about: string };

/** `given`: the arguments that were typed before. */
export type CompletionPlace = { readonly io: Io; readonly command: Command; readonly given: readonly string[] };

const NEWEST = 50;
const FILES: readonly CompletedWord[] = [{ word: ":files", about: "" }];
const FOLDERS: readonly CompletedWord[] = [{ word: ":folders", about: "" }];

type Find = (place: CompletionPlace) => Promise<readonly CompletedWord[]> | readonly CompletedWord[];

const FINDERS: Readonly<Record<string, Find>> = {
  run: ({ io }) => runs(io),
  item: ({ io, command }) => items(io, command.parent?.name() ?? ""),
  ticket: async ({ io, command }) =>
    command.name() === "explain" ? [...(await tickets(io)), ...(await runs(io))] : tickets(io),
  depends: ({ io }) => tickets(io),
  add: ({ io }) => tickets(io),
  remove: ({ io }) => tickets(io),
  flow: ({ io }) => flows(io),
  flows: ({ io }) => flows(io),
  stage: ({ io, given }) => stages(io, given[0] ?? ""),
  from: ({ io, given }) => stages(io, given[0] ?? ""),
  attempt: ({ io, given }) => attempts(io, given[0] ?? ""),
  choice: ({ io, given }) => choices(io, given[0] ?? ""),
  agent: ({ command }) =>
    command.parent?.name() === "key" ? [] : PROGRAMS.slice(0, 4).map((name) => plain(`*=${name}`)),
  runner: () => PROGRAMS.slice(0, 4).map(plain),
  workspace: () => WORKSPACE_MODES.map(plain),
  project: ({ io }) => projects(io),
  name: ({ io, command }) => (command.parent?.name() === "projects" ? projects(io) : []),
  key: ({ io }) => settings(io),
  topic: ({ command }) => (command.parent?.commands ?? []).map((each) => plain(each.name())),
  spec: () => FILES,
  plan: () => FILES,
  task: () => FILES,
  ticketFile: () => FILES,
  file: () => FILES,
  out: () => FILES,
  answers: () => FILES,
  outcomes: () => FILES,
  tokenFile: () => FILES,
  folder: () => FOLDERS,
  cwd: () => FOLDERS,
  home: () => FOLDERS,
};

/** `run --ticket` reads a file; elsewhere `ticket` is an id. */
export async function valuesOf(place: CompletionPlace, name: string): Promise<readonly CompletedWord[]> {
  const key = name === "ticket" && place.command.name() === "run" ? "ticketFile" : name;
  return Object.hasOwn(FINDERS, key) ? ((await FINDERS[key]?.(place)) ?? []) : [];
}

function plain(word: string): CompletedWord {
  return { word, about: "" };
}

async function fromStore(
  io: Io,
  read: (store: Store) => Promise<readonly CompletedWord[]>,
): Promise<readonly CompletedWord[]> {
  return withReader(io, async (store) => (store === undefined ? [] : read(store)));
}

function runs(io: Io): Promise<readonly CompletedWord[]> {
  return fromStore(io, async (store) =>
    (await store.listRuns({ limit: NEWEST })).map(({ number, status, flow, subject }) => ({
      word: String(number),
      about: `${status} · ${flow} · ${subject.title}`,
    })),
  );
}

/** Those that the command can answer: `gate` offers gates, `ask` questions. */
function items(io: Io, group: string): Promise<readonly CompletedWord[]> {
  const kinds: Readonly<Record<string, string>> = {
    gate: "gate",
    ask: "question",
    escalation: "escalation",
    budget: "budget",
  };
  return fromStore(io, async (store) => {
    const open = (await store.inbox()).filter(({ item }) => kinds[group] === undefined || item.kind === kinds[group]);
    return Promise.all(
      open.slice(0, NEWEST).map(async ({ runId, item, subject }) => ({
        word: `${await numberOf(store, runId)}.${item.number}`,
        about: `${item.kind} ${item.stage} · ${subject.title}`,
      })),
    );
  });
}

async function numberOf(store: Store, runId: string): Promise<string> {
  return String((await store.findRuns(runId)).find(({ id }) => id === runId)?.number ?? runId);
}

async function foundRun(store: Store, typed: string): Promise<string | undefined> {
  const word = typed.replace(/^#/u, "");
  const found = await store.findRuns(word);
  return (found.find(({ number, id }) => String(number) === word || id === word) ?? found[0])?.id;
}

function stages(io: Io, typed: string): Promise<readonly CompletedWord[]> {
  return fromStore(io, async (store) => {
    const id = await foundRun(store, typed);
    const stored = id === undefined ? undefined : await store.loadRun(id);
    if (stored === undefined) return [];
    return (await flowOf(store, stored.run)).flow.stages.map((stage) => ({ word: stage.id, about: stage.kind }));
  });
}

function attempts(io: Io, typed: string): Promise<readonly CompletedWord[]> {
  return fromStore(io, async (store) => {
    const id = await foundRun(store, typed);
    const made = id === undefined ? [] : await store.attempts(id);
    return made.map(({ stage, attempt, status }) => ({ word: `${stage}#${attempt}`, about: status }));
  });
}

/** The words that the named item, or the only open one, offers. */
function choices(io: Io, typed: string): Promise<readonly CompletedWord[]> {
  return fromStore(io, async (store) => {
    for (const { runId, item } of await store.inbox()) {
      if (typed !== "" && typed !== `${await numberOf(store, runId)}.${item.number}`) continue;
      return "choices" in item ? Object.keys(item.choices ?? {}).map(plain) : [];
    }
    return [];
  });
}

async function tickets(io: Io): Promise<readonly CompletedWord[]> {
  const { readTickets } = await import("../ticket/read-tickets.ts");
  return (await readTickets(io)).scan.tickets.map(({ id, title, status }) => ({
    word: id,
    about: `${status} · ${title}`,
  }));
}

/** By the names of the files: reading every flow takes longer than a person waits for a tab. */
function flows({ cwd }: Io): readonly CompletedWord[] {
  const filesIn = (folder: string, about: string): readonly CompletedWord[] => {
    try {
      return readdirSync(folder).flatMap((file) =>
        /\.ya?ml$/u.test(file) ? [{ word: file.replace(/\.ya?ml$/u, ""), about }] : [],
      );
    } catch {
      return [];
    }
  };
  const own = filesIn(join(cwd, ".passrail", "flows"), "of this project");
  const shipped = filesIn(join(shippedDir, "flows"), "shipped").filter(({ word }) =>
    own.every((each) => each.word !== word),
  );
  return [...own, ...shipped];
}

function projects({ home }: Io): readonly CompletedWord[] {
  const known = listProjects(home);
  return known.ok ? known.value.map(({ name, folder }) => ({ word: name, about: folder })) : [];
}

async function settings(io: Io): Promise<readonly CompletedWord[]> {
  const { shownSettings } = await import("../../shown-settings.ts");
  const { listSettings } = await import("../../../settings/list-settings.ts");
  return listSettings(await shownSettings(io)).map(({ name, from }) => ({ word: name, about: from }));
}
