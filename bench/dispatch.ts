// From the end of one ticket's agent to the start of the next ticket's, as the agents themselves note it: one slot, one stage, ticket files
// on disk, worktrees, programs that work for a moment.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approveFiles } from "../test/harness/approve-files.ts";
import { countingPath, partsOf } from "../test/harness/git-counts.ts";
import { openPerformer } from "../test/harness/open-performer.ts";
import { openDispatcher } from "../src/ticket/pick/open.ts";
import { inFolder, percentile, type Row } from "./measure.ts";

type Round = {
  readonly tickets: number;
  readonly files: number;
  readonly seconds: number;
  /** Whether git writes down its starts; then the times say nothing. */
  readonly isCounted: boolean;
};

const SMALL: Round = { tickets: 30, files: 300, seconds: 0.5, isCounted: false };
const LARGE: Round = { tickets: 8, files: 10_000, seconds: 2, isCounted: false };
const COUNTED: Round = { tickets: 8, files: 300, seconds: 0, isCounted: true };

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

export async function measureDispatch(base: string): Promise<readonly Row[]> {
  const small = await played(base, SMALL);
  const large = await played(base, LARGE);
  const counted = await played(base, COUNTED);
  const gaps = (round: Played): readonly number[] => (round.problem === null ? gapsOf(round.log) : []);
  const p = (round: Played, share: number) => (gaps(round).length === 0 ? undefined : percentile(gaps(round), share));
  const note = ({ problem }: Played, { tickets, files, seconds }: Round): string =>
    problem ?? `${tickets} tickets of one stage, 1 slot, ${files} files, agents of ${seconds} s`;
  const calls = partsOf(counted.log).slice(2, -1);
  return [
    {
      name: "agent's end to next ticket's agent, p50",
      value: p(small, 0.5),
      unit: "ms",
      limit: { is: "at most", value: 50 },
      note: note(small, SMALL),
    },
    { name: "agent's end to next ticket's agent, p95", value: p(small, 0.95), unit: "ms", note: note(small, SMALL) },
    { name: "agent's end to next ticket's agent, p50", value: p(large, 0.5), unit: "ms", note: note(large, LARGE) },
    {
      name: "git processes per one-stage ticket",
      value: counted.problem === null ? Math.max(...calls.map((each) => each.length)) : undefined,
      unit: "",
      note: `the most of ${calls.length}, with opening and closing its worktree`,
    },
  ];
}

type Played = {
  /** What the agents noted, and git if it was counted. */ readonly log: string;
  readonly problem: string | null;
};

function played(base: string, round: Round): Promise<Played> {
  return inFolder(base, async (dir) => {
    const log = join(dir, "log");
    const path = process.env["PATH"] ?? "";
    const project = makeProject(dir, log, round);
    const problems: string[] = [];
    if (round.isCounted) process.env["PATH"] = countingPath(join(dir, "bin"), path, log);
    try {
      const passrail = await openPerformer({
        home: join(dir, "home"),
        project,
        environment: { PATH: path, HOME: dir, XDG_CONFIG_HOME: join(dir, "config") },
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
      if (done !== round.tickets) problems.unshift(`${done} of ${round.tickets} done`);
    } finally {
      process.env["PATH"] = path;
    }
    return { log: readFileSync(log, "utf8"), problem: problems[0] ?? null };
  });
}

/** Milliseconds between the end of an agent and the beginning of the next. */
function gapsOf(log: string): readonly number[] {
  const noted = log.split("\n").flatMap((line) => {
    const [word, at = "0"] = line.split(" ");
    return word === "agent" || word === "done" ? [{ word, ms: Number(BigInt(at) / 1000n) / 1000 }] : [];
  });
  return noted.flatMap(({ word, ms }, index) => {
    const next = noted[index + 1];
    return word === "done" && next !== undefined ? [next.ms - ms] : [];
  });
}

function makeProject(dir: string, log: string, { tickets, files, seconds }: Round): string {
  const project = join(dir, "project");
  execFileSync("git", ["init", "-q", "-b", "main", project]);
  const who = ["-c", "user.name=b", "-c", "user.email=b@localhost"];
  for (let file = 0; file < files; file++) writeFileSync(join(project, `${file}.txt`), `line of ${file}\n`.repeat(50));
  execFileSync("git", ["-C", project, "add", "-A"]);
  execFileSync("git", ["-C", project, ...who, "commit", "-q", "-m", "first"]);
  mkdirSync(join(project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project, ".passrail", "flows", "one-stage.yaml"), FLOW);
  const note = (word: string): string => `echo "${word} $(date +%s%N)" >> '${log}'`;
  const agent = ["/bin/sh", "-c", `${note("agent")}; sleep ${seconds}; ${note("done")}`];
  const settings = { agents: { "*": { command: agent } }, tickets: { flow: "one-stage" } };
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(join(dir, "home"), project);
  mkdirSync(join(project, "feature_requests", "FR-1"), { recursive: true });
  for (let number = 1; number <= tickets; number++) {
    const keys = `id: AGI-${number}\ntitle: Ticket ${number}\nrepo: project\nstatus: Needs Validate\ndependsOn: []`;
    writeFileSync(join(project, "feature_requests", "FR-1", `AGI-${number}.md`), `---\n${keys}\n---\n\nDo it.\n`);
  }
  return project;
}
