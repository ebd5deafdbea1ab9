// `passrail` without a command: an overview of the runs and of the inbox, and which command to try next.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { lookAtPause } from "../../../app/look-at-pause.ts";
import { pauseText } from "../../../core/view/pause-text.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { firstSteps, type ProposedStep, placeLines, ticketsLine, ticketSteps } from "../../../core/view/place-text.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint, printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { looseEndJson, looseEndsOf } from "../answer/loose-ends.ts";
import { withReader } from "../../reader.ts";
import { itemJson } from "../../terminal/run-view.ts";
import { inboxOf } from "../answer/inbox.ts";
import { seePlace, seeTickets } from "./place.ts";

const SHOWN = 5;

export async function glance(io: Io): Promise<number> {
  return withReader(io, async (store) => {
    const counts = await store?.countRuns();
    const waiting = store === undefined ? [] : await inboxOf(store);
    const loose = store === undefined ? [] : (await looseEndsOf(io, store)).ends;
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
        looseEnds: loose.map(looseEndJson),
      });
      return EXIT.ok;
    }
    if (store === undefined || counts === undefined || Object.values(counts).every((count) => count === 0)) {
      const place = await seePlace(io);
      for (const line of placeLines(place)) io.out(plainText(line));
      io.out("No runs yet.");
      printNext(io, firstSteps(place));
      return EXIT.ok;
    }
    const tickets = await seeTickets(io);
    io.out(
      daemon !== undefined
        ? `The daemon is running: ${daemon.url} (process ${daemon.pid}). Dashboard: passrail open`
        : performer === null
          ? "No process is performing runs; the next command on a run resumes it."
          : `${performer} is performing runs.`,
    );
    const paused = await lookAtPause(store);
    if (paused !== null)
      io.out(paint(io, "yellow", oneLine(`Paused: ${pauseText(paused)} (passrail runs resume --all)`, 400)));
    const words = Object.entries(counts).filter(([, count]) => count > 0);
    // Not every open run works: some are in line, held or wait for a merge.
    io.out(`Runs: ${words.map(([status, count]) => `${count} ${status === "running" ? "open" : status}`).join(", ")}`);
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
    if (loose.length > 0) {
      io.out("");
      io.out(paint(io, "yellow", `Also waits: ${loose.length}`));
      for (const { kind, title, run } of loose.slice(0, SHOWN))
        io.out(oneLine(`  ${run === null ? "" : `#${run.number} `}${kind} · ${title}`, Math.max(40, io.columns)));
    }
    if (tickets !== null) io.out(`\n${ticketsLine(tickets)}`);
    const first = active[0];
    const follows = performer === null ? "resumes it" : "follows it";
    printNext(io, [
      ...(waiting.length + loose.length > 0 ? [{ command: "passrail inbox", about: "what waits for you" }] : []),
      ...(first === undefined ? [] : [{ command: `passrail runs watch ${first.number}`, about: follows }]),
      ...(daemon?.dispatches === true ? [] : ticketSteps(tickets)),
      { command: "passrail runs list", about: "all runs" },
    ]);
    return EXIT.ok;
  });
}

function printNext(io: Io, steps: readonly ProposedStep[]): void {
  const wide = Math.max(0, ...steps.map(({ command }) => command.length));
  io.out("");
  io.out(paint(io, "dim", "Next:"));
  for (const { command, about } of steps) io.out(`  ${command.padEnd(wide)}  ${paint(io, "dim", about)}`);
}

/** For display only: the lock decides who performs, and after a crash this note may be outdated. */
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
