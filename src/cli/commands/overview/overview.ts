// `passrail` alone, `inbox` and `verify`: how things stand, what waits for a person, and whether the history is whole.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { storeFile } from "../../../settings/site.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { verifyAudit } from "../../../http/server/audit.ts";
import type { Run } from "../../../core/run/run.ts";
import { EXIT } from "../../errors.ts";
import type { Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { withReader } from "../../report.ts";
import { waitingLines } from "../../terminal/progress.ts";
import { askedBy, itemJson } from "../../terminal/run-view.ts";
import { optional } from "../../../core/optional.ts";

const SHOWN = 5;

export async function glance(io: Io): Promise<number> {
  return withReader(io, async (store) => {
    const counts = await store?.countRuns();
    const waiting = store === undefined ? [] : await inboxOf(store);
    const active = store === undefined ? [] : await store.listRuns({ status: "running", limit: SHOWN });
    const daemon = findDaemon(io.home);
    const performer = performerOf(io.home);
    if (io.json) {
      printJson(io, {
        home: io.home,
        performer,
        url: daemon?.url ?? null,
        runs: counts ?? {},
        inbox: waiting.map(({ number, record }) => itemJson(record.runId, number, record.item)),
      });
      return EXIT.ok;
    }
    if (store === undefined || counts === undefined || Object.values(counts).every((count) => count === 0)) {
      io.out("No runs yet.");
      printNext(io, [
        "passrail demo",
        "passrail run routed \"Fix the typo in the README\" --agent '*=COMMAND'",
        "passrail flow list",
        "passrail --help",
      ]);
      return EXIT.ok;
    }
    io.out(
      daemon !== undefined
        ? `The daemon performs: ${daemon.url} (process ${daemon.pid}). Dashboard: passrail open`
        : performer === null
          ? "Nobody performs: runs go on with the next command that touches them."
          : `${performer} performs.`,
    );
    const words = Object.entries(counts).filter(([, count]) => count > 0);
    io.out(`Runs: ${words.map(([status, count]) => `${count} ${status}`).join(", ")}`);
    for (const run of active)
      io.out(
        oneLine(`  #${run.number} ${run.stage ?? ""} · ${run.word} · ${run.subject.title}`, Math.max(40, io.columns)),
      );
    if (waiting.length > 0) {
      io.out("");
      io.out(paint(io, "yellow", `Waiting for you: ${waiting.length}`));
      for (const { number, record } of waiting.slice(0, SHOWN)) {
        io.out(
          oneLine(
            `  ${number}.${record.item.number} ${record.item.kind} ${record.item.stage} · ${record.subject.title} · ${age(record.item.openedAt)}`,
            Math.max(40, io.columns),
          ),
        );
      }
    }
    const first = active[0];
    printNext(io, [
      ...(waiting.length > 0 ? ["passrail inbox"] : []),
      ...(first === undefined
        ? []
        : [`passrail runs watch ${first.number}${performer === null ? "   carries it on" : ""}`]),
      "passrail runs list",
    ]);
    return EXIT.ok;
  });
}

function printNext(io: Io, commands: readonly string[]): void {
  io.out("");
  io.out(paint(io, "dim", "Next:"));
  for (const command of commands) io.out(`  ${command}`);
}

/** Words for the reader: the lock decides, not this note, and after a crash the note may be old. */
function performerOf(home: string): string | null {
  try {
    const file = join(home, "engine.json");
    if (statSync(file).size > 4096) return null;
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid?: unknown };
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 2) return null;
    process.kill(pid, 0);
    return `Process ${pid}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "Another user's process" : null;
  }
}

type Waiting = {
  readonly number: number;
  readonly record: Awaited<ReturnType<Store["inbox"]>>[number];
  readonly run?: Run;
};

async function inboxOf(store: Store): Promise<readonly Waiting[]> {
  return Promise.all(
    (await store.inbox()).map(async (record) => {
      const run = (await store.loadRun(record.runId))?.run;
      const number = (await store.findRuns(record.runId)).find(({ id }) => id === record.runId)?.number ?? 0;
      return { record, number, ...optional({ run }) };
    }),
  );
}

export async function inbox(io: Io): Promise<number> {
  const waiting = await withReader(io, async (store) => (store === undefined ? [] : inboxOf(store)));
  if (io.json) {
    printJson(io, {
      items: waiting.map(({ number, record }) => ({
        ...itemJson(record.runId, number, record.item),
        flow: record.flow,
        subject: record.subject,
      })),
    });
  } else if (io.quiet) {
    for (const { record } of waiting) io.out(`${record.runId}.${record.item.number}`);
  } else if (io.plain) {
    printTable(
      io,
      waiting.map(({ number, record: { runId, item, flow, subject } }) =>
        [
          `${runId}.${item.number}`,
          `${number}.${item.number}`,
          item.kind,
          item.stage,
          item.who,
          flow,
          item.openedAt,
          subject.title,
          askedBy(item).join(" / "),
        ].map((value) => ({ name: "", value })),
      ),
    );
  } else if (waiting.length === 0) {
    io.out("Nothing waits for you.");
  } else {
    for (const [index, { number, record, run }] of waiting.entries()) {
      if (index > 0) io.out("");
      io.out(paint(io, "bold", oneLine(`${number}.${record.item.number}  ${record.subject.title}`, io.columns)));
      io.out(
        paint(
          io,
          "dim",
          oneLine(`flow ${record.flow} · ${record.subject.id} · ${age(record.item.openedAt)}`, io.columns),
        ),
      );
      for (const line of waitingLines(record.item, number, run)) io.out(line);
    }
  }
  return EXIT.ok;
}

export async function verify(io: Io): Promise<number> {
  return withReader(io, async (store) => {
    const record = store === undefined ? [] : verifyAudit(io.home);
    const damages = [
      ...((await store?.verify()) ?? []),
      ...record.map(({ seq, what }) => ({ seq, runId: null, what: `audit record: ${what}` })),
    ];
    const events = (await store?.lastSeq()) ?? 0;
    if (io.json) printJson(io, { ok: damages.length === 0, file: storeFile(io.home), events, damages });
    else if (store === undefined) io.out("There is no store yet; nothing to verify.");
    else if (damages.length === 0) io.out(`ok\t${events} events, every one as it was written`);
    else
      for (const { seq, runId, what } of damages)
        printTable(io, [[String(seq ?? ""), runId ?? "", what].map((value) => ({ name: "", value }))]);
    return damages.length === 0 ? EXIT.ok : EXIT.error;
  });
}
