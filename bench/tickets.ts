// Ten thousand ticket files: the first scan, a second one, one change until it is visible, and which tickets of one long chain may start.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { planTickets } from "../src/core/ticket/plan.ts";
import type { TicketFolder } from "../src/ticket/file/folder.ts";
import { openTicketFolder } from "../src/ticket/file/open-folder.ts";
import { ticketSettings } from "../src/settings/tickets.ts";
import { inFolder, median, type Row, sample } from "./measure.ts";

const TICKETS = 10_000;
const PER_REQUEST = 5;
const ROUNDS = 7;

export function measureTickets(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (project) => {
    writeTickets(project);
    const folder = openTicketFolder({ project, settings: ticketSettings([]) });
    const cold = await sample(async () => void (await folder.scan()));
    const scan = await folder.scan();
    if (scan.tickets.length !== TICKETS || scan.problems.length > 0) throw new Error("the tickets were not read");
    const again: number[] = [];
    const plans: number[] = [];
    const nobody = { busy: new Set<string>(), busyBranches: new Set<string>() };
    for (let round = 0; round < ROUNDS; round += 1) {
      again.push((await sample(async () => void (await folder.scan()))).wallMs);
      const planned = await sample(() => {
        if (planTickets(scan, nobody).eligible.length !== 1) throw new Error("a chain has one beginning");
      });
      plans.push(planned.wallMs);
    }
    const seen = await changes(project, folder);
    const note = `${TICKETS} files`;
    return [
      {
        name: "tickets: the first look",
        value: cold.wallMs / 1000,
        unit: "s",
        limit: { is: "at most", value: 5 },
        note,
      },
      { name: "tickets: a second look", value: median(again), unit: "ms", note: "nothing has changed" },
      {
        name: "tickets: one change is seen",
        value: median(seen),
        unit: "ms",
        limit: { is: "at most", value: 200 },
        note,
      },
      {
        name: "tickets: who may start in a chain",
        value: median(plans),
        unit: "ms",
        limit: { is: "at most", value: 200 },
        note: `${TICKETS} deep`,
      },
    ];
  });
}

/** From the write of a file to a scan that has it. */
async function changes(project: string, folder: TicketFolder): Promise<readonly number[]> {
  let told: (() => void) | undefined;
  const stop = folder.watch(() => told?.());
  // Watching alone does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  const times: number[] = [];
  try {
    await folder.scan();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const number = round * 1000;
      const title = `changed ${round}`;
      const since = performance.now();
      const notice = new Promise<void>((resolve) => (told = resolve));
      writeFileSync(fileOf(project, number), textOf(number, title));
      await notice;
      const { tickets } = await folder.scan();
      if (tickets[number - 1]?.title !== title) throw new Error("the change was told but not seen");
      times.push(performance.now() - since);
      // Later effects of the same write must not count for the next round.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    clearInterval(alive);
    stop();
  }
  return times;
}

function writeTickets(project: string): void {
  for (let number = 1; number <= TICKETS; number += 1) {
    if (number % PER_REQUEST === 1) mkdirSync(join(fileOf(project, number), ".."), { recursive: true });
    writeFileSync(fileOf(project, number), textOf(number, `Ticket ${number}`));
  }
}

function fileOf(project: string, number: number): string {
  return join(project, "feature_requests", `FR-${Math.ceil(number / PER_REQUEST)}`, `AGI-${number}.md`);
}

function textOf(number: number, title: string): string {
  const dependsOn = number === TICKETS ? "[]" : `[AGI-${number + 1}]`;
  const head = `id: AGI-${number}\ntitle: ${title}\ndescription: Some words on it\nrepo: .\nstatus: Backlog\ndependsOn: ${dependsOn}\n`;
  return `---\n${head}---\n\n${"A line of the body.\n".repeat(20)}`;
}
