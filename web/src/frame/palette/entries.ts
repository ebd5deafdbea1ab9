// The entries of the palette: a name, the keys, and the command line that does the same. Pure: it turns the open run or item, the search
// results and the allowed actions into a list.

import { type Act, actName, commandOf } from "../../run/acts.ts";
import { choicesOf, questionOf } from "../../inbox/words.ts";
import type { WaitingItem } from "../../inbox/types.ts";
import { optional } from "../../../../src/core/optional.ts";

export type Deed =
  | { readonly type: "go"; readonly to: string }
  | { readonly type: "run"; readonly number: number }
  | { readonly type: "ticket"; readonly id: string }
  | { readonly type: "flow"; readonly name: string }
  | { readonly type: "item"; readonly id: string }
  | { readonly type: "answer"; readonly answer: string; readonly done: string }
  | { readonly type: "act"; readonly act: Act }
  /** Of an agent at work, on whatever page. */
  | { readonly type: "stop"; readonly run: { readonly id: string; readonly number: number }; readonly stage: string }
  /** An entry of Now. */
  | { readonly type: "need"; readonly id: string }
  | { readonly type: "all"; readonly act: "pause" | "resume" }
  | { readonly type: "theme"; readonly theme: "system" | "light" | "dark" }
  | { readonly type: "start" | "new-ticket" | "demo" | "keys" | "logout" | "costly" };

export type Entry = {
  /** Unique; the search matches this text. */
  readonly title: string;
  readonly group: string;
  readonly deed: Deed;
  readonly keys?: string;
  readonly cli?: string;
};

type FoundRun = {
  readonly number: number;
  readonly word: string;
  readonly subject: { readonly id: string; readonly title: string };
};

export type Known = {
  readonly text: string;
  readonly places: readonly { readonly to: string; readonly name: string; readonly keys: string }[];
  /** The shown item, if it can be decided. */
  readonly item: WaitingItem | undefined;
  readonly waiting: readonly Pick<WaitingItem, "id" | "kind" | "stage" | "subject" | "runNumber" | "asks">[];
  /** Loose ends, which wait without a question of a stage. */
  readonly looseEnds: readonly { readonly id: string; readonly title: string; readonly text: string }[];
  /** Agents at work. */
  readonly working: readonly {
    readonly runId: string;
    readonly number: number;
    readonly title: string;
    readonly stage: string;
  }[];
  readonly run: { readonly number: number; readonly acts: readonly Act[] } | undefined;
  readonly found: readonly FoundRun[];
  readonly flows: readonly { readonly name: string; readonly title: string }[];
  /** Tickets with this text, also those without any work. */
  readonly tickets: readonly {
    readonly id: string;
    readonly title: string;
    readonly word: string;
    /** Null if it only has runs. */
    readonly file: object | null;
  }[];
};

/** Commands that show the same as a page; the other pages are opened. */
const SHOWS: Readonly<Record<string, string>> = {
  "/": "passrail inbox",
  "/runs": "passrail runs list",
  "/work": "passrail ticket list",
  "/flows": "passrail flow list",
  "/agents": "passrail agent list",
  "/workers": "passrail status",
  "/projects": "passrail queue",
  "/insights": "passrail cost --by day",
  "/report": "passrail report",
  "/trust": "passrail trust",
};

export function entriesOf(known: Known): readonly Entry[] {
  return [
    ...decisions(known),
    ...loose(known),
    ...acts(known),
    ...found(known),
    // After what is only looked at: who types the name of a run wants to see it.
    ...stops(known),
    ...doings(),
    ...places(known),
  ];
}

function decisions({ item, waiting }: Known): readonly Entry[] {
  const group = "Decide";
  const own =
    item === undefined
      ? []
      : choicesOf(item).map(({ answer, label, done, needsReason }): Entry => {
          const cli = answerCommand(item, answer);
          return {
            title: `${label}: ${item.subject.title} (${item.id})`,
            group,
            // The item's own page asks for the reason.
            deed: needsReason ? { type: "item", id: item.id } : { type: "answer", answer, done },
            ...(answer === "approve" ? { keys: "$mod+Enter" } : {}),
            ...optional({ cli }),
          };
        });
  const shown = item === undefined ? waiting : [item, ...waiting];
  const others = shown.map(
    (each): Entry => ({
      title: `#${each.runNumber} ${questionOf(each)}`,
      group,
      deed: { type: "item", id: each.id },
      cli: `passrail open /g/${each.id}`,
    }),
  );
  return [...own, ...others];
}

function answerCommand({ kind, id }: Pick<WaitingItem, "kind" | "id">, answer: string): string | undefined {
  switch (kind) {
    case "gate": {
      const verb = answer === "decline" ? "reject" : answer;
      return ["approve", "revise", "reject"].includes(verb) ? `passrail gate ${verb} ${id}` : undefined;
    }
    case "escalation":
      return `passrail escalation choose ${id} ${answer}`;
    case "choice":
      return `passrail ask answer ${id} --choice ${answer}`;
    case "budget":
      return `passrail budget ${answer} ${id}`;
    case "question":
      return undefined;
  }
}

function loose({ looseEnds }: Known): readonly Entry[] {
  return looseEnds.map(({ id, title, text }) => ({
    title: `Look at ${title}: ${text.slice(0, 80)} (${id})`,
    group: "Decide",
    deed: { type: "need", id },
    cli: "passrail inbox",
  }));
}

function stops({ working }: Known): readonly Entry[] {
  return working.map(({ runId, number, title, stage }) => ({
    title: `Stop ${stage} of #${number} now: ${title}`,
    group: "Do",
    deed: { type: "stop", run: { id: runId, number }, stage },
    cli: commandOf("stop", number, stage, ""),
  }));
}

/** Only actions that are possible now; the run's menu explains the others. */
function acts({ run }: Known): readonly Entry[] {
  if (run === undefined) return [];
  return run.acts
    .filter(({ why }) => why === null)
    .map((act) => ({
      title: `${actName(act)} · run #${run.number}`,
      group: "This run",
      deed: { type: "act", act },
      cli: commandOf(act.act, run.number, act.stage, ""),
    }));
}

function found({ text, found: runs, flows, tickets: files }: Known): readonly Entry[] {
  const typed = /^#?([1-9][0-9]{0,8})$/u.exec(text.trim())?.[1];
  const number = typed === undefined ? undefined : Number(typed);
  const isListed = runs.some((run) => run.number === number);
  const group = "Open";
  const others = new Map(
    runs.flatMap(({ subject }) => (files.some(({ id }) => id === subject.id) ? [] : [[subject.id, subject] as const])),
  );
  return [
    ...(number === undefined || isListed
      ? []
      : [
          {
            title: `Run #${number}`,
            group,
            deed: { type: "run", number },
            cli: `passrail runs show ${number}`,
          } as const,
        ]),
    ...runs.map(
      ({ number: each, word, subject }): Entry => ({
        title: `Run #${each}: ${subject.title} · ${word}`,
        group,
        deed: { type: "run", number: each },
        cli: `passrail runs show ${each}`,
      }),
    ),
    ...files.map(
      ({ id, title, word, file }): Entry => ({
        title: `Ticket ${id}: ${title} · ${word}`,
        group,
        deed: { type: "ticket", id },
        // The id of a ticket without a file may be anything, and people paste commands into a shell.
        ...(file === null ? {} : { cli: `passrail ticket show ${id}` }),
      }),
    ),
    ...[...others.values()].map(
      ({ id, title }): Entry => ({ title: `Ticket ${id}: ${title}`, group, deed: { type: "ticket", id } }),
    ),
    ...(text.trim() === "" ? [] : flows).map(
      ({ name, title }): Entry => ({
        title: `Flow ${name}: ${title}`,
        group,
        deed: { type: "flow", name },
        cli: `passrail flow show ${name}`,
      }),
    ),
  ];
}

function doings(): readonly Entry[] {
  const group = "Do";
  return [
    { title: "New ticket", group, deed: { type: "new-ticket" }, cli: "passrail ticket new 'What to do'" },
    { title: "Start a run", group, deed: { type: "start" }, cli: 'passrail run feature "What to do"' },
    { title: "Pause everything", group, deed: { type: "all", act: "pause" }, cli: "passrail runs pause --all" },
    { title: "Resume everything", group, deed: { type: "all", act: "resume" }, cli: "passrail runs resume --all" },
    { title: "Show the runs that cost most", group, deed: { type: "costly" }, cli: "passrail cost --by run" },
    { title: "Run the demo", group, deed: { type: "demo" }, cli: "passrail demo" },
    { title: "Show all keys", group, deed: { type: "keys" }, keys: "Shift+?" },
    { title: "Colours: light", group, deed: { type: "theme", theme: "light" } },
    { title: "Colours: dark", group, deed: { type: "theme", theme: "dark" } },
    { title: "Colours: system", group, deed: { type: "theme", theme: "system" } },
    { title: "Log out", group, deed: { type: "logout" } },
  ];
}

function places({ places: list }: Known): readonly Entry[] {
  const more = [{ to: "/welcome", name: "Welcome", keys: undefined }];
  return [...list, ...more].map(
    ({ to, name, keys }): Entry => ({
      title: `Go to ${name}`,
      group: "Go to",
      deed: { type: "go", to },
      ...optional({ keys }),
      cli: SHOWS[to] ?? `passrail open ${to}`,
    }),
  );
}
