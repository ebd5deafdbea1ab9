// On a terminal a run that waits asks there and continues with the answer, until it ends or the person leaves it for
// later. The question stays in the inbox: Ctrl-C, another terminal or the dashboard lose nothing, and an answer counts
// only for the version that was shown.

import { commitOf } from "../app/commit-of.ts";
import { itemVersion } from "../app/item-version.ts";
import { openItems } from "../core/run/run.ts";
import { changeLines } from "../core/view/work-summary.ts";
import { answerText } from "../ticket/intake/answers.ts";
import { CliError, EXIT } from "./errors.ts";
import { tellGate } from "./gate-lines.ts";
import { withReader } from "./reader.ts";
import { type ForegroundWork, type Rest, workOn } from "./session.ts";
import { TERMINAL_RULES } from "./terminal-rules.ts";
import { canAsk } from "./terminal/ask-in-terminal.ts";
import { askItem, type TypedDecision } from "./terminal/ask-item.ts";
import type { Io } from "./terminal/io.ts";
import { plainText } from "./terminal/plain-text.ts";
import { readRunDiff } from "./work-summary.ts";

/** Where the run is after the person has answered everything that they wanted to. */
export async function askInPlace(io: Io, first: Rest, flags: ForegroundWork["flags"]): Promise<Rest> {
  let rest = first;
  while (canAsk(io) && process.stdout.isTTY && rest.run.status === "waiting") {
    const [item] = openItems(rest.run);
    const shown = item === undefined ? undefined : await versionOf(io, rest);
    if (item === undefined || shown === undefined) return rest;
    await tellGate(io, rest.run);
    const decision = await askItem(item, () => showDiff(io, rest));
    if (decision.type === "interrupted") throw interrupted(shown.number);
    if (decision.type === "later") return rest;
    rest = await answer(io, rest, { item: item.number, version: shown.version, decision }, flags);
  }
  return rest;
}

type Given = {
  readonly item: number;
  readonly version: string;
  readonly decision: Extract<TypedDecision, { type: "answer" }>;
};

async function answer(
  io: Io,
  { run }: Rest,
  { item, version, decision }: Given,
  flags: ForegroundWork["flags"],
): Promise<Rest> {
  const { answer: word, texts } = decision;
  const text = texts.length > 1 ? answerText(texts) : (texts[0] ?? "");
  return workOn(io, {
    runId: run.id,
    flags,
    follow: true,
    stream: false,
    lines: "err",
    act: async ({ app, person }) => {
      const request = { item: `${run.id}.${item}`, answer: word, text, issues: [] };
      const seen = { type: "version", version } as const;
      const answered = await app.answerItem({ ...request, seen, rules: TERMINAL_RULES }, { actor: person });
      // Another answer was faster, or the work has moved: the command shows the present run, and asks again if it still waits.
      if (!answered.ok) io.err(`! ${plainText(answered.error.message)}`);
      return true;
    },
  });
}

async function versionOf(
  io: Io,
  { run }: Rest,
): Promise<{ readonly version: string; readonly number: number } | undefined> {
  return withReader(io, async (store) => {
    const stored = await store?.loadRun(run.id);
    if (store === undefined || stored === undefined) return undefined;
    const number = (await store.findRuns(run.id)).find(({ id }) => id === run.id)?.number ?? 0;
    return { version: await itemVersion({ commitOf: (each) => commitOf(store, each) }, stored), number };
  });
}

async function showDiff(io: Io, { run }: Rest): Promise<void> {
  const diff = await withReader(io, async (store) =>
    store === undefined ? null : readRunDiff(io, store, run, await store.attempts(run.id)),
  );
  if (diff === null) return io.err("Nothing has changed yet.");
  for (const line of diff.bytes.toString("utf8").trimEnd().split("\n")) io.err(plainText(line));
  for (const line of changeLines(diff.stat)) io.err(plainText(line));
}

function interrupted(number: number): CliError {
  return new CliError(
    "interrupted",
    "Stopped by SIGINT. The run waits for you.",
    `passrail inbox            shows what waits\npassrail runs watch ${number}    asks again`,
    EXIT.interrupted,
  );
}
