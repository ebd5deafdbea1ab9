// Every command with its arguments and flags. Wiring only: what a command does is loaded when it is called.

import { Argument, type Command, Option } from "commander";
import type { RunnerName } from "../core/flow/agent-options.ts";
import type { ServiceKind } from "../daemon/service-file.ts";
import type { DemoOptions } from "../demo/demo.ts";
import type { KeyKind } from "../http/server/keys.ts";
import type { Control } from "./commands/runs/control.ts";
import { usageError } from "./errors.ts";
import { EXIT_CODES, ITEM, RUN } from "./help-text.ts";
import type { Io } from "./terminal/io.ts";
import { optional } from "../core/optional.ts";

/** Runs a command with everything it needs to know. */
type Call = (command: (io: Io) => Promise<number>) => Promise<void>;
type Flags = Readonly<Record<string, unknown>>;

export function addCommands(program: Command, call: Call): void {
  addRun(program, call);
  addSpec(program, call);
  addWork(program, call);
  addTickets(program.command("ticket").description("ticket files: make, look at and change them"), call);
  addRuns(program.command("runs").description("look at runs and take them in hand"), call);
  program
    .command("inbox")
    .description("what waits for a person")
    .action(() => call(async (io) => (await import("./commands/overview/overview.ts")).inbox(io)));
  addAnswers(program, call);
  addMoney(program, call);
  addAgents(program.command("agent").description("the programs that play agents, and the agents"), call);
  addFlows(program.command("flow").description("the flows that can be run"), call);
  addDaemon(program, call);
  addWebhooks(program.command("webhook").description("what is sent to people, and where it goes"), call);
  addTriggers(program.command("trigger").description("what starts runs by itself"), call);
  addMerging(program, call);
  addWorkspaces(program.command("workspace").description("the folders in which attempts work"), call);
  addMcp(program, call);
  program
    .command("demo")
    .description("scripted agents on the real engine: no key, no network")
    .option("--speed <factor>", "2 is twice as fast", "1")
    .option("--scripted", "nobody is asked: every answer is written down already")
    .option("--no-dashboard", "on a terminal too it ends with the last run")
    .action((flags: Flags) => {
      const speed = Number(flags["speed"]);
      if (!(speed >= 0.1 && speed <= 100)) throw usageError("number_invalid", "--speed: a number from 0.1 to 100.");
      const options = { speed, ...(flags["scripted"] === true ? { interactive: false } : {}) };
      return call(async (io) => {
        const { runDemo } = await import("../demo/demo.ts");
        const isShown = io.tty && process.stdin.isTTY && !io.json && flags["dashboard"] !== false;
        if (!isShown) return runDemo(io, options);
        const { showDashboard } = await import("./commands/demo/dashboard.ts");
        const dashboard: DemoOptions["dashboard"] = (place, stop) =>
          showDashboard(io, program.version() ?? "", place, stop);
        return runDemo(io, { ...options, dashboard });
      });
    });
  program
    .command("verify")
    .description("check that the whole history is as it was written")
    .action(() => call(async (io) => (await import("./commands/overview/overview.ts")).verify(io)));
  program
    .command("help")
    .description("help on a command, or: help exit-codes")
    .argument("[topic...]")
    .action((topic: readonly string[]) => showHelp(program, topic));
}

function addRun(program: Command, call: Call): void {
  program
    .command("run")
    .description("start a run and stay with it until it rests")
    .argument("<flow>", "see: passrail flow list")
    .argument("[text]", "what is to be done; - reads standard input")
    .option("--ticket <file>", "take the task from a Markdown file")
    .option("--agent <stage=command>", "program for a stage, an agent or * (repeatable)", collect, [])
    .option("--input <name=value>", "a fact for the flow's conditions (repeatable)", collect, [])
    .option("--workspace <kind>", "in-place, worktree, clone, bubblewrap, docker, podman or daytona")
    .option("--slots <n>", "attempts at once")
    .option("--id <id>", "the subject's own id")
    .option("--title <title>", "instead of the first line of the task")
    .addOption(new Option("--wait", "stay until the run rests (the default)").conflicts("detach"))
    .option("--detach", "let another process carry it on")
    .action(async (flow: string, text: string | undefined, flags: Flags) => {
      const lists = { agent: flags["agent"] as string[], input: flags["input"] as string[] };
      const options = {
        ...lists,
        detach: flags["detach"] === true,
        ...texts(flags, "ticket", "workspace", "slots", "id", "title"),
      };
      await call(async (io) => (await import("./commands/run/run.ts")).run(io, flow, text, options));
    });
  program
    .command("start-detached", { hidden: true })
    .argument("<file>")
    .action((file: string) =>
      call(async (io) => {
        const { takePlan } = await import("./commands/run/detach.ts");
        return (await import("./commands/run/run.ts")).startRun(io, takePlan(file));
      }),
    );
}

function addSpec(program: Command, call: Call): void {
  program
    .command("spec")
    .description("turn a request into tickets; asks what is not clear")
    .argument("[request...]", "what is wanted, in words")
    .option("--agent <stage=command>", "program for a stage, an agent or * (repeatable)", collect, [])
    .option("--answers <file>", "answers to what will be asked, as YAML or JSON")
    .action((words: readonly string[], flags: Flags) => {
      const options = { agent: flags["agent"] as string[], ...texts(flags, "answers") };
      return call(async (io) => (await import("./commands/spec/spec.ts")).spec(io, words, options));
    });
}

function addWork(program: Command, call: Call): void {
  program
    .command("work")
    .description("pick tickets and work on them, until Ctrl-C")
    .option("--once", "end when nothing can start and nothing works")
    .option("--slots <n>", "attempts at once")
    .option("--agent <stage=command>", "program for a stage, an agent or * (repeatable)", collect, [])
    .action((flags: Flags) => {
      const options = {
        once: flags["once"] === true,
        runners: flags["agent"] as readonly string[],
        ...texts(flags, "slots"),
      };
      return call(async (io) => (await import("./commands/work/work.ts")).work(io, options));
    });
  program
    .command("explain")
    .description("why a ticket or a run is or is not at work")
    .argument("<ticket>", "AGI-7, or a run by number or id")
    .action((reference: string) =>
      call(async (io) => (await import("./commands/explain/explain.ts")).explain(io, reference)),
    );
}

const TICKET = "its id, such as AGI-7";

function addMerging(program: Command, call: Call): void {
  program
    .command("done")
    .description("say that a ticket's work is merged; it is looked at before it counts")
    .argument("<ticket>", "the ticket's id, or its run")
    .option("--commit <id>", "the commit that holds the work, where it was squashed or rebased")
    .option("--force", "without proof; needs --reason")
    .option("--reason <text>", "why it counts without proof; it is recorded")
    .action((ticket: string, flags: Flags) => {
      const options = { force: flags["force"] === true, ...texts(flags, "commit", "reason") };
      return call(async (io) => (await import("./commands/merge/done.ts")).done(io, ticket, options));
    });
  program
    .command("merge-queue")
    .description("work on its way into its target: what is landing, and what waits to be merged")
    .action(() => call(async (io) => (await import("./commands/merge/done.ts")).mergeQueue(io)));
  program
    .command("undo")
    .description("bring back the branch of a ticket that was cleaned up")
    .argument("[ticket]", "the ticket's id")
    .option("--list", "which branches are there, moved or gone")
    .action((ticket: string | undefined, flags: Flags) =>
      call(async (io) => {
        const module = await import("./commands/merge/undo.ts");
        return flags["list"] === true ? module.undoList(io) : module.undo(io, module.requireTicket(ticket));
      }),
    );
}

function addTickets(ticket: Command, call: Call): void {
  ticket
    .command("new")
    .description("one ticket in the backlog")
    .argument("<title>", "what is to be done, in a line")
    .option("--body <text>", "the whole text; - reads standard input")
    .option("--depends <ticket>", "what has to be finished before (repeatable)", collect, [])
    .option("--group <group>", "tickets of a group share a branch")
    .option("--repo <name>", "where the work belongs; the project's own without it")
    .option("--priority <n>", "the lowest comes first")
    .option("--request <request>", "into this folder, such as FR-2; a new one without it")
    .action((title: string, flags: Flags) => {
      const options = {
        depends: flags["depends"] as string[],
        ...texts(flags, "body", "group", "repo", "priority", "request"),
      };
      return call(async (io) => (await import("./commands/ticket/new.ts")).ticketNew(io, title, options));
    });
  ticket
    .command("list")
    .description("all tickets: where they stand, and why they do or do not start")
    .option("--status <word>", "only those with this status")
    .option("--eligible", "only those that can start, in their order")
    .action((flags: Flags) => {
      const options = { eligible: flags["eligible"] === true, ...texts(flags, "status") };
      return call(async (io) => (await import("./commands/ticket/list.ts")).ticketList(io, options));
    });
  ticket
    .command("show")
    .description("one ticket with everything that is known of it")
    .argument("<ticket>", TICKET)
    .action((id: string) => call(async (io) => (await import("./commands/ticket/list.ts")).ticketShow(io, id)));
  ticket
    .command("edit")
    .description("its text in your editor, checked before it is saved; or single keys")
    .argument("<ticket>", TICKET)
    .option("--set <key=value>", "title, repo, group or priority (repeatable)", collect, [])
    .action((id: string, flags: Flags) => {
      const set = flags["set"] as string[];
      return call(async (io) => (await import("./commands/ticket/edit.ts")).ticketEdit(io, id, set));
    });
  ticket
    .command("move")
    .description("say where a ticket stands")
    .argument("<ticket>", TICKET)
    .argument("<status>", 'such as "Needs Plan"')
    .option("--force", "also while an agent works on it")
    .action((id: string, status: string, flags: Flags) => {
      const options = { force: flags["force"] === true };
      return call(async (io) => (await import("./commands/ticket/move.ts")).ticketMove(io, id, status, options));
    });
  ticket
    .command("deps")
    .description("what a ticket waits for, and who waits for it")
    .argument("<ticket>", TICKET)
    .option("--add <ticket>", "let it wait for this one too (repeatable)", collect, [])
    .option("--remove <ticket>", "no longer for this one (repeatable)", collect, [])
    .action((id: string, flags: Flags) => {
      const options = { add: flags["add"] as string[], remove: flags["remove"] as string[] };
      return call(async (io) => (await import("./commands/ticket/deps.ts")).ticketDeps(io, id, options));
    });
  ticket
    .command("import")
    .description("take issues over into the backlog; once each, all or none")
    .option("--file <file>", "a list in .json, or a table in .csv with a header row")
    .option("--github <owner/repo>", "open issues, by the program gh")
    .option("--label <label>", "only issues with this label")
    .option("--limit <n>", "at most so many (100)")
    .option("--dry-run", "say what would come, write nothing")
    .action((flags: Flags) => {
      const options = { dryRun: flags["dryRun"] === true, ...texts(flags, "file", "github", "label", "limit") };
      return call(async (io) => (await import("./commands/ticket/import.ts")).ticketImport(io, options));
    });
  ticket
    .command("log")
    .description("what the agents of a ticket printed, attempt after attempt")
    .argument("<ticket>", "AGI-7")
    .argument("[stage]", "only of this stage")
    .action((id: string, stage: string | undefined) =>
      call(async (io) => (await import("./commands/ticket/log.ts")).ticketLog(io, id, stage)),
    );
}

const FILES = ["prompt", "output", "verdict", "diff", "handoff"] as const;

const CONTROLS: Readonly<Record<Control, string>> = {
  cancel: "end a run; whatever works for it is ended",
  pause: "start nothing more; what works may finish",
  resume: "go on after a pause",
  retry: "run the current stage again",
  rerun: "go back to an earlier stage and go on from there",
  skip: "go on without the current stage",
};

function addRuns(runs: Command, call: Call): void {
  runs
    .command("list")
    .description("runs, newest first")
    .option("--status <word>", "status or the flow's own word")
    .option("--flow <name>", "of one flow")
    .option("--limit <n>", "at most so many", "50")
    .option("--before <number>", "older than this number")
    .action((flags: Flags) =>
      call(async (io) =>
        (await import("./commands/runs/show.ts")).runsList(io, {
          limit: String(flags["limit"]),
          ...texts(flags, "status", "flow", "before"),
        }),
      ),
    );
  const show = runs
    .command("show")
    .description("one run with its stages, attempts, counters and open items")
    .argument("<run>", RUN)
    .option("--attempt <stage#n>", "one attempt; without a number the last");
  for (const file of FILES) show.option(`--${file}`, `the attempt's ${file}`);
  show.action((run: string, flags: Flags) => {
    const [file, ...others] = FILES.filter((name) => flags[name] === true);
    if (others.length > 0)
      throw usageError("flag_conflict", `Only one of ${FILES.map((name) => `--${name}`).join(", ")} at a time.`);
    const options = { ...texts(flags, "attempt"), ...optional({ file }) };
    return call(async (io) => (await import("./commands/runs/show.ts")).runsShow(io, run, options));
  });
  runs
    .command("watch")
    .description("follow a run until it rests; carries it on where nobody does")
    .argument("<run>", RUN)
    .option("--exit-status", "end with the code of the run's state")
    .action((run: string, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/runs/watch.ts")).runsWatch(io, run, { exitStatus: flags["exitStatus"] === true }),
      ),
    );
  runs
    .command("logs")
    .description("raw output of an attempt")
    .argument("<run>", RUN)
    .option("--stage <stage#n>", "of this stage; without a number its last attempt")
    .option("-f, --follow", "until the attempt ends")
    .action((run: string, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/runs/watch.ts")).runsLogs(io, run, {
          follow: flags["follow"] === true,
          ...texts(flags, "stage"),
        }),
      ),
    );
  runs
    .command("events")
    .description("the history, event by event")
    .argument("<run>", RUN)
    .option("-f, --follow", "until the run ends")
    .action((run: string, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/runs/watch.ts")).runsEvents(io, run, { follow: flags["follow"] === true }),
      ),
    );
  for (const [verb, about] of Object.entries(CONTROLS) as [Control, string][]) {
    const command = runs.command(verb).description(about).argument("<run>", RUN);
    const isAgain = verb === "retry" || verb === "rerun";
    if (verb !== "resume" && !isAgain) command.option("--reason <text>", "why; it is recorded");
    if (isAgain) command.option("--note <text>", "what the next attempt is told");
    if (verb === "rerun") command.requiredOption("--from <stage>", "the earlier stage");
    if (verb === "retry" || verb === "skip") command.option("--stage <stage>", "which, where several are current");
    command.action((run: string, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/runs/control.ts")).control(
          io,
          verb,
          run,
          texts(flags, "reason", "note", "stage", "from"),
        ),
      ),
    );
  }
}

function addAnswers(program: Command, call: Call): void {
  const gate = program.command("gate").description("answer a gate");
  const about = { approve: "let the run go on", revise: "send the work back", reject: "decline" } as const;
  for (const answer of ["approve", "revise", "reject"] as const) {
    gate
      .command(answer)
      .description(about[answer])
      .argument("[item]", ITEM)
      .option("--comment <text>", "recorded, and told to whoever works next")
      .option("--commit <id>", "only if the work is still at this commit")
      .action((item: string | undefined, flags: Flags) =>
        call(async (io) =>
          (await import("./commands/answer/answer.ts")).gateAnswer(io, answer, item, {
            comment: "",
            ...texts(flags, "comment", "commit"),
          }),
        ),
      );
  }
  program
    .command("ask")
    .description("answer what an agent asks")
    .command("answer")
    .description("give the answer")
    .usage('[item] "text" | [item] --choice CHOICE')
    .argument("[item]", ITEM)
    .argument("[text]", "the answer")
    .option("--choice <choice>", "one of the choices that are offered")
    .action((item: string | undefined, text: string | undefined, flags: Flags) => {
      const words = [item, text].filter((word) => word !== undefined);
      return call(async (io) =>
        (await import("./commands/answer/answer.ts")).askAnswer(io, words, texts(flags, "choice").choice),
      );
    });
  program
    .command("escalation")
    .description("decide about an escalation")
    .command("choose")
    .description("take one of its choices")
    .usage("[item] <choice>")
    .argument("<item>", ITEM)
    .argument("[choice]", "one of the choices that are offered")
    .option("--note <text>", "recorded, and told to whoever works next")
    .action((first: string, second: string | undefined, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/answer/answer.ts")).escalationChoose(
          io,
          first,
          second,
          texts(flags, "note").note ?? "",
        ),
      ),
    );
}

function addMoney(program: Command, call: Call): void {
  const budget = program.command("budget").description("decide about a budget that is reached");
  budget
    .command("raise")
    .description("allow more, for this run")
    .argument("[item]", ITEM)
    .option("--by <amount>", "5 usd or 200000 tokens; without it the limit's own size once more")
    .action((item: string | undefined, flags: Flags) =>
      call(async (io) =>
        (await import("./commands/answer/budget.ts")).budgetAnswer(io, "raise", item, texts(flags, "by").by ?? ""),
      ),
    );
  budget
    .command("stop")
    .description("let the run stop; it can be retried")
    .argument("[item]", ITEM)
    .action((item: string | undefined) =>
      call(async (io) => (await import("./commands/answer/budget.ts")).budgetAnswer(io, "stop", item, "")),
    );
  program
    .command("cost")
    .description("what agents have cost")
    .argument("[run]", RUN)
    .option("--by <key>", "agent, stage, flow, day, runner, model or run", "agent")
    .option("--since <time>", "7d, 12h or a day")
    .action((run: string | undefined, flags: Flags) =>
      call(async (io) => (await import("./commands/cost/cost.ts")).cost(io, run, texts(flags, "by", "since"))),
    );
}

function addAgents(agent: Command, call: Call): void {
  agent
    .command("list")
    .description("what is installed and logged in, and who plays which agent")
    .action(() => call(async (io) => (await import("./commands/agent/agent.ts")).agentList(io)));
  const known: readonly RunnerName[] = ["claude", "codex", "gemini", "opencode"];
  agent
    .command("test")
    .description("one tiny attempt from end to end; costs one short answer")
    .addArgument(new Argument("<runner>", "who plays").choices(known))
    .action((runner: RunnerName) =>
      call(async (io) => (await import("./commands/agent/agent.ts")).agentTest(io, runner)),
    );
}

function addTriggers(trigger: Command, call: Call): void {
  const module = () => import("./commands/trigger/trigger.ts");
  const name = "see: passrail trigger list";
  trigger
    .command("list")
    .description("all of them, with the last run of each")
    .action(() => call(async (io) => (await module()).triggerList(io)));
  trigger
    .command("test")
    .description("what it would do now; starts nothing")
    .argument("<name>", name)
    .action((given: string) => call(async (io) => (await module()).triggerTest(io, given)));
  trigger
    .command("run")
    .description("start its flow now, as if it had happened")
    .argument("<name>", name)
    .action((given: string) => call(async (io) => (await module()).triggerRun(io, given)));
}

function addWorkspaces(workspace: Command, call: Call): void {
  const module = () => import("./commands/workspace/workspace.ts");
  workspace
    .command("list")
    .description("all of them: whose they are, what was left behind, what is not committed")
    .action(() => call(async (io) => (await module()).workspaceList(io)));
  workspace
    .command("clean")
    .description("remove those that no live run owns; their work is pinned first")
    .option("--dry-run", "only say which")
    .action((flags: Flags) =>
      call(async (io) => (await module()).workspaceClean(io, { dryRun: flags["dryRun"] === true })),
    );
}

function addMcp(program: Command, call: Call): void {
  program
    .command("mcp")
    .description("for your own agent: look at runs over MCP, on standard input and output")
    .addOption(new Option("--operator", "let it start, answer and cancel too, in your name").conflicts("tokenFile"))
    .option("--token-file <file>", "with the rights of this token; PASSRAIL_TOKEN does the same")
    .option("--url <url>", "another daemon than that of the state folder, with a token for it")
    .action((flags: Flags) => {
      const options = { operator: flags["operator"] === true, ...texts(flags, "tokenFile", "url") };
      return call(async (io) => (await import("./commands/mcp/mcp.ts")).mcp(io, options));
    });
}

function addWebhooks(webhook: Command, call: Call): void {
  const module = () => import("./commands/webhook/webhook.ts");
  webhook
    .command("deliveries")
    .description("what was sent, newest first")
    .option("--endpoint <name>", "to one endpoint")
    .option("--limit <n>", "at most so many", "50")
    .action((flags: Flags) => {
      const options = { limit: String(flags["limit"]), ...texts(flags, "endpoint") };
      return call(async (io) => (await module()).webhookDeliveries(io, options));
    });
  webhook
    .command("endpoints")
    .description("where notices go, and whether they arrive")
    .action(() => call(async (io) => (await module()).webhookEndpoints(io)));
  webhook
    .command("redeliver")
    .description("send one again under its old id")
    .argument("<id>", "see: passrail webhook deliveries")
    .action((id: string) => call(async (io) => (await module()).webhookRedeliver(io, id)));
  webhook
    .command("test")
    .description("send a few words to an endpoint")
    .argument("<endpoint>", "see: passrail webhook endpoints")
    .action((name: string) => call(async (io) => (await module()).webhookTest(io, name)));
  webhook
    .command("enable")
    .description("use an endpoint again that said it was gone")
    .argument("<endpoint>", "see: passrail webhook endpoints")
    .action((name: string) => call(async (io) => (await module()).webhookEnable(io, name)));
}

function addDaemon(program: Command, call: Call): void {
  program
    .command("up")
    .description("run the daemon: engine and API, until Ctrl-C")
    .option("--detach", "in the background")
    .option("--work", "pick the project's tickets too; tickets.dispatch does the same")
    .option("--port <n>", "where to listen; 0 takes any that is free")
    .option("--host <address>", "a loopback address")
    .option("--allow-host <name>", "a further name under which it is reached, as name:port (repeatable)", collect, [])
    .option("--dangerously-bind", "let other machines reach it; nothing is encrypted")
    .option("--slots <n>", "attempts at once")
    .option("--workspace <kind>", "in-place, worktree, clone, bubblewrap, docker, podman or daytona")
    .addOption(new Option("--quietly", "the log goes to its file only").hideHelp())
    .action((flags: Flags) => {
      const options = {
        allowHost: flags["allowHost"] as string[],
        dangerouslyBind: flags["dangerouslyBind"] === true,
        detach: flags["detach"] === true,
        work: flags["work"] === true,
        quietly: flags["quietly"] === true,
        ...texts(flags, "port", "host", "slots", "workspace"),
      };
      return call(async (io) => (await import("./commands/daemon/up.ts")).up(io, program.version() ?? "", options));
    });
  program
    .command("down")
    .description("stop the daemon; what works is ended and done again by the next one")
    .option("--drain", "let what works come to its end first; nothing new starts")
    .option("--timeout <seconds>", "wait so long for its end", "60")
    .action((flags: Flags) => {
      const options = { drain: flags["drain"] === true, timeout: String(flags["timeout"]) };
      return call(async (io) => (await import("./commands/daemon/up.ts")).down(io, options));
    });
  program
    .command("status")
    .description("whether a daemon runs, and where")
    .action(() => call(async (io) => (await import("./commands/daemon/up.ts")).status(io)));
  program
    .command("open")
    .description("the dashboard in a browser, logged in")
    .argument("[page]", "such as /runs/12", "/")
    .option("--print", "print the address only; it is good for one login and one minute")
    .action((path: string, flags: Flags) => {
      if (!/^\/[A-Za-z0-9._~/?=&%:@,+-]*$/u.test(path))
        throw usageError("page_invalid", "A page begins with a slash, such as /runs/12.");
      return call(async (io) =>
        (await import("./commands/daemon/open.ts")).open(io, { print: flags["print"] === true, path }),
      );
    });
  const key = program.command("key").description("tokens for others");
  key
    .command("create")
    .description("make one; the token is printed once")
    .argument("<name>", "whose it is; for a webhook the name of its source")
    .addOption(
      new Option("--scope <scope>", "what its holder may do")
        .choices(["viewer", "operator", "webhook"])
        .default("viewer"),
    )
    .action((name: string, flags: Flags) =>
      call(async (io) => (await import("./commands/daemon/key.ts")).keyCreate(io, name, flags["scope"] as KeyKind)),
    );
  key
    .command("list")
    .description("all of them, without their tokens")
    .action(() => call(async (io) => (await import("./commands/daemon/key.ts")).keyList(io)));
  key
    .command("revoke")
    .description("refuse one from now on")
    .argument("<id>", "see: passrail key list")
    .action((id: string) => call(async (io) => (await import("./commands/daemon/key.ts")).keyRevoke(io, id)));
  program
    .command("service")
    .description("start the daemon with the system")
    .command("install")
    .description("write the file for systemd or launchd; nothing is started")
    .option("--print", "print it instead")
    .option("--force", "replace one that is there")
    .addOption(new Option("--kind <kind>", "instead of what fits this system").choices(["systemd", "launchd"]))
    .action((flags: Flags) => {
      const kind = flags["kind"] as ServiceKind | undefined;
      const options = {
        print: flags["print"] === true,
        force: flags["force"] === true,
        ...optional({ kind }),
      };
      return call(async (io) => (await import("./commands/daemon/service.ts")).serviceInstall(io, options));
    });
}

function addFlows(flow: Command, call: Call): void {
  flow
    .command("list")
    .description("shipped flows and those of the project")
    .action(() => call(async (io) => (await import("./commands/flow/flow.ts")).flowList(io)));
  flow
    .command("show")
    .description("what a flow does")
    .argument("<flow>")
    .action((name: string) => call(async (io) => (await import("./commands/flow/flow.ts")).flowShow(io, name)));
  flow
    .command("check")
    .description("check flows by name or file; all of them without")
    .argument("[flows...]")
    .action((names: readonly string[]) =>
      call(async (io) => (await import("./commands/flow/flow.ts")).flowCheck(io, names)),
    );
  flow
    .command("graph")
    .description("a flow as a Mermaid graph")
    .argument("<flow>")
    .action((name: string) => call(async (io) => (await import("./commands/flow/flow.ts")).flowGraph(io, name)));
  flow
    .command("schema")
    .description("JSON Schema of flow files, for editors")
    .action(() => call(async (io) => (await import("./commands/flow/flow.ts")).flowSchema(io)));
  flow
    .command("simulate")
    .description("run a flow with a script of outcomes, without agents")
    .argument("<flow>")
    .requiredOption("--outcomes <file>", "the script; - reads standard input")
    .option("--input <name=value>", "a fact for the flow's conditions (repeatable)", collect, [])
    .action((name: string, flags: Flags) => {
      const options = { outcomes: String(flags["outcomes"]), input: flags["input"] as string[] };
      return call(async (io) => (await import("./commands/flow/flow.ts")).flowSimulate(io, name, options));
    });
}

function showHelp(program: Command, topic: readonly string[]): void {
  if (topic[0] === "exit-codes") {
    process.stdout.write(EXIT_CODES);
    return;
  }
  let command = program;
  for (const word of topic) {
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined)
      throw usageError(
        "unknown_topic",
        `There is no help on "${topic.join(" ")}".`,
        "passrail --help   or   passrail help exit-codes",
      );
    command = found;
  }
  command.outputHelp();
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** The flags that were given a text, under the same names. */
function texts<K extends string>(flags: Flags, ...names: readonly K[]): { [P in K]?: string } {
  const given = names.flatMap((name) => (typeof flags[name] === "string" ? [[name, flags[name]]] : []));
  return Object.fromEntries(given) as { [P in K]?: string };
}
