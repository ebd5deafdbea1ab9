// The idle time of a slot between two tickets: from the stored end of one attempt to the stored start of the next, with one slot, files on
// disk, worktrees and programs that exit at once. Making a workspace counts as the next attempt's time.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approveFiles } from "../test/harness/approve-files.ts";
import { openPerformer } from "../test/harness/open-performer.ts";
import { openDispatcher } from "../src/ticket/pick/open.ts";
import { inFolder, percentile, type Row } from "./measure.ts";

const TICKETS = 30;

const FLOW = `flow: one-stage
version: 1
title: One stage
subject: ticket
enter: { Needs Validate: validate }
words:
  verdict: {}
  unknown_verdict: pass
  health: { "0": complete }
  unknown_health: failed
  status: { queued: Backlog, completed: Done, stopped: Blocked, canceled: Canceled }
workspace: { mode: worktree, branch: "feat/{ticket.id}" }
allow_ungated: true
defaults: { yield: true, result: { from: exit-code } }
stages:
  - { id: validate, agent: worker, prompt_file: agent2-worker-validate, status: { ready: Needs Validate, running: Validate In Progress } }
`;

export function measureDispatch(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const project = makeProject(dir);
    const problems: string[] = [];
    const passrail = await openPerformer({
      home: join(dir, "home"),
      project,
      environment: { PATH: process.env["PATH"], HOME: dir, XDG_CONFIG_HOME: join(dir, "config") },
      flags: { slots: "1" },
      onError: (_, error) => problems.push(String(error)),
    });
    const dispatcher = openDispatcher(passrail, { project, log: () => undefined });
    await dispatcher.start();
    do {
      await passrail.engine.idle();
      await passrail.mirror.settled();
      await dispatcher.look();
    } while (!dispatcher.isIdle);
    const events = (await passrail.store.events({ after: 0, limit: 10_000 })).map(({ event }) => event);
    const done = (await passrail.store.countRuns()).completed;
    dispatcher.stop();
    await passrail.close();
    const gaps: number[] = [];
    let ended: number | undefined;
    for (const event of events) {
      if (event.type === "stage.finished") ended = Date.parse(event.at);
      if (event.type !== "stage.started" || ended === undefined) continue;
      gaps.push(Date.parse(event.at) - ended);
      ended = undefined;
    }
    const isWhole = done === TICKETS && problems.length === 0;
    const note = isWhole ? `${TICKETS} tickets, 1 slot` : `${done} of ${TICKETS} done; ${problems[0] ?? ""}`;
    return [
      { name: "slot idle between two tickets, p50", value: percentile(gaps, 0.5), unit: "ms", note },
      {
        name: "slot idle between two tickets, p95",
        value: isWhole ? percentile(gaps, 0.95) : undefined,
        unit: "ms",
        limit: { is: "at most", value: 50 },
        note,
      },
    ];
  });
}

function makeProject(dir: string): string {
  const project = join(dir, "project");
  execFileSync("git", ["init", "-q", "-b", "main", project]);
  const who = ["-c", "user.name=b", "-c", "user.email=b@localhost"];
  execFileSync("git", ["-C", project, ...who, "commit", "-q", "--allow-empty", "-m", "first"]);
  mkdirSync(join(project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project, ".passrail", "flows", "one-stage.yaml"), FLOW);
  const settings = { agents: { "*": { command: ["true"] } }, tickets: { flow: "one-stage" } };
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(join(dir, "home"), project);
  mkdirSync(join(project, "feature_requests", "FR-1"), { recursive: true });
  for (let number = 1; number <= TICKETS; number++) {
    const keys = `id: AGI-${number}\ntitle: Ticket ${number}\nrepo: project\nstatus: Needs Validate\ndependsOn: []`;
    writeFileSync(join(project, "feature_requests", "FR-1", `AGI-${number}.md`), `---\n${keys}\n---\n\nDo it.\n`);
  }
  return project;
}
