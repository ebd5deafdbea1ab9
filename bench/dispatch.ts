// From the end of one ticket's agent to the start of the next ticket's, as the agents themselves note it: one slot, one stage, ticket files
// on disk, worktrees, programs that exit at once.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approveFiles } from "../test/harness/approve-files.ts";
import { openPerformer } from "../test/harness/open-performer.ts";
import { openDispatcher } from "../src/ticket/pick/open.ts";
import { inFolder, percentile, type Row } from "./measure.ts";

const TICKETS = 30;
const FILES = 300;

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
    const done = (await passrail.store.countRuns()).completed;
    dispatcher.stop();
    await passrail.close();
    const gaps = gapsOf(readFileSync(join(dir, "times"), "utf8"));
    const isWhole = done === TICKETS && problems.length === 0;
    const note = isWhole
      ? `${TICKETS} tickets of one stage, 1 slot, ${FILES} files`
      : `${done} of ${TICKETS} done; ${problems[0] ?? ""}`;
    return [
      {
        name: "agent's end to next ticket's agent, p50",
        value: isWhole ? percentile(gaps, 0.5) : undefined,
        unit: "ms",
        limit: { is: "at most", value: 50 },
        note,
      },
      { name: "agent's end to next ticket's agent, p95", value: percentile(gaps, 0.95), unit: "ms" },
    ];
  });
}

/** Milliseconds between the end of an agent and the beginning of the next. */
function gapsOf(times: string): readonly number[] {
  const noted = times
    .trim()
    .split("\n")
    .map((line) => Number(BigInt(line) / 1000n) / 1000);
  return noted.flatMap((at, index) => (index % 2 === 1 ? [(noted[index + 1] ?? Number.NaN) - at] : [])).slice(0, -1);
}

function makeProject(dir: string): string {
  const project = join(dir, "project");
  execFileSync("git", ["init", "-q", "-b", "main", project]);
  const who = ["-c", "user.name=b", "-c", "user.email=b@localhost"];
  for (let file = 0; file < FILES; file++) writeFileSync(join(project, `${file}.txt`), `line of ${file}\n`.repeat(50));
  execFileSync("git", ["-C", project, "add", "-A"]);
  execFileSync("git", ["-C", project, ...who, "commit", "-q", "-m", "first"]);
  mkdirSync(join(project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project, ".passrail", "flows", "one-stage.yaml"), FLOW);
  const note = `date +%s%N >> '${join(dir, "times")}'`;
  const agent = ["/bin/sh", "-c", `${note}; ${note}`];
  const settings = { agents: { "*": { command: agent } }, tickets: { flow: "one-stage" } };
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(join(dir, "home"), project);
  mkdirSync(join(project, "feature_requests", "FR-1"), { recursive: true });
  for (let number = 1; number <= TICKETS; number++) {
    const keys = `id: AGI-${number}\ntitle: Ticket ${number}\nrepo: project\nstatus: Needs Validate\ndependsOn: []`;
    writeFileSync(join(project, "feature_requests", "FR-1", `AGI-${number}.md`), `---\n${keys}\n---\n\nDo it.\n`);
  }
  return project;
}
