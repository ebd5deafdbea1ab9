// One sentence per setting, with the flag and the variables that win over the files. `passrail config explain` prints it, and
// docs/settings.md says the same at length.

export type AboutSetting = {
  readonly about: string;
  readonly flag?: string;
  /** The first that is set wins. */
  readonly variables?: readonly string[];
  /** Only the user's own file may have it. */
  readonly isUsers?: true;
};

const ABOUT: Readonly<Record<string, AboutSetting>> = {
  slots: {
    about: "How many attempts may run at once, 1 to 100.",
    flag: "--slots",
    variables: ["PASSRAIL_SLOTS", "MAX_WORKERS"],
  },
  "daemon.port": {
    about: "The daemon's port on loopback; 0 takes any that is free.",
    flag: "--port",
    variables: ["PASSRAIL_PORT"],
  },
  workspace: {
    about: "Where agents work: in-place, worktree, clone, bubblewrap, docker, podman or daytona.",
    flag: "--workspace",
    variables: ["PASSRAIL_WORKSPACE"],
  },
  verdict_repair: {
    about: "Whether Passrail asks an agent once more, with the exact error, when it cannot read the verdict.",
    variables: ["PASSRAIL_VERDICT_REPAIR"],
  },
  memo: {
    about: "Whether stages whose flow says `memo` reuse the result of an earlier attempt with the same inputs.",
    flag: "--no-memo",
    variables: ["PASSRAIL_MEMO"],
  },
  check_cache: {
    about: "Whether the result of a check counts for every later one on the same files.",
    flag: "--no-check-cache",
    variables: ["PASSRAIL_CHECK_CACHE"],
  },
  "attempts.process": {
    about: "Which attempts run in a process of their own and outlive the daemon: agents, own or engine.",
    variables: ["PASSRAIL_ATTEMPT_PROCESS"],
  },
  "attempts.enclosure": {
    about:
      "How the processes of an attempt without a sandbox are held together, so that all end with it: auto, cgroup, scope, namespace or markers.",
    variables: ["PASSRAIL_ENCLOSURE"],
  },
  "attempts.limit_near": {
    about: "Percent of a vendor's limit from which on new attempts of its runner start one at a time; 100 means never.",
    variables: ["PASSRAIL_LIMIT_NEAR"],
  },
  "gateway.mode": {
    about: "Whether agents ask their models through a gateway that adds the keys: off, on or required.",
    variables: ["PASSRAIL_GATEWAY"],
  },
  "gateway.egress": {
    about: "The other hosts that agents may reach, through the gateway; names and groups such as github.",
  },
  "gateway.tape": { about: "Whether the gateway records every request to a model, and its answer, with the attempt." },
  "gateway.private": { about: "Names among them that may have a private address.", isUsers: true },
  "workers.place": {
    about: "Where attempts go when workers have joined: here-first, workers-first or workers-only.",
  },
  "workers.lease": {
    about:
      "How long a worker may be silent before its attempts start again elsewhere; it ends their agents before that.",
  },
  "workers.labels": {
    about: "Labels that a worker must have for the attempts of a stage or an agent; such attempts never run here.",
  },
  database: {
    about: "The Postgres that holds the store: postgres://…; without it, a file in the state folder.",
    variables: ["PASSRAIL_DATABASE_URL"],
    isUsers: true,
  },
  runner: {
    about:
      "The program that plays agents without a choice of their own: claude, codex, gemini or opencode; claude,codex is a ladder.",
    flag: "--agent",
    variables: ["PASSRAIL_RUNNER"],
  },
  repository_settings: {
    about: "Whether hooks, MCP servers and settings that a repository brings for agents' programs take effect.",
    variables: ["PASSRAIL_REPOSITORY_SETTINGS"],
  },
  model: { about: "The model of agents without a choice of their own." },
  budgets: { about: "Spending limits of a run, a ticket and a UTC day, in dollars and tokens; none removes one." },
  agents: { about: "How an agent or a stage is played: runner, model, permission, command and more.", flag: "--agent" },
  agent_limits: { about: "How many attempts of an agent may run at once; written as agents.NAME.limit." },
  tickets: { about: "A rule for ticket files: where they are, and how Passrail picks them." },
  "tickets.folder": { about: "The folder of ticket files, relative to the project." },
  "tickets.dispatch": {
    about: "Whether a daemon of this project, or passrail without a command, picks tickets.",
    flag: "--work",
  },
  "tickets.flow": { about: "The flow of tickets that name no flow." },
  "tickets.idle_sleep": { about: "How long to wait before the next scan when no ticket can start." },
  workspaces: { about: "A rule for fresh workspaces: what they contain, how large work may be, and their sandbox." },
  "workspaces.setup": { about: "Programs that prepare every fresh workspace, once." },
  "workspaces.setup_cache": { about: "Folders that these programs make, kept while the named files stay the same." },
  "workspaces.sandbox": { about: "The kind of workspace for flows that ask for a sandbox." },
  limits: {
    about:
      "How long an attempt may take in all, be silent, take to its first output, and wait for a person; by stage, * for all.",
  },
  heartbeat: { about: "How often the engine looks after its runs, and when a run without any sign counts as stalled." },
  merge: { about: "A rule for landing finished work." },
  "merge.mode": {
    about: "What happens to approved work: merge lands it, pr opens a pull request, auto decides by the remote.",
    variables: ["MERGE_MODE"],
  },
  "merge.target": {
    about: "The branch that work lands in; default: what the remote's HEAD names, else the current branch.",
  },
  "merge.checks": { about: "Checks that run on the merged tree before it lands." },
  checks: { about: "Programs that Passrail runs on finished work, by name; a red one sends the work back." },
  flows: { about: "Limits that win over those of a flow's file: loops, stale_after, lease." },
  standards: { about: "Files with rules for agents, committed in the project." },
  test_files: { about: "Globs of the files that a tester may change." },
  repositories: {
    about: "Folders of the project that are repositories of their own and part of the work.",
    flag: "--repo",
  },
  hooks: { about: "Programs that get one line of JSON when something happens in an agent's session." },
  "router.fallback": { about: "When keyword rules choose instead of a router's model: rules, unreachable or stop." },
  triggers: { about: "Schedules, files and issues that start runs." },
  "environment.pass": { about: "Additional variables that agents may see." },
  "notify.command": { about: "The program to call when something waits for a person or a run ends." },
  "notify.endpoints": { about: "Further destinations of notices, such as Slack or ntfy.", isUsers: true },
  webhooks: { about: "Who may send webhooks to the daemon, and what they mean.", isUsers: true },
  retention: {
    about: "How long ended runs, the files of their attempts and copies of logs are kept; none: without a limit.",
    isUsers: true,
  },
  status_mirror: {
    about: "A Supabase project or a Postgres elsewhere that gets the status of every feature and its handoffs.",
    isUsers: true,
  },
  trackers: {
    about: "GitHub repositories, Linear teams and Jira projects whose issues become tickets and follow them.",
    isUsers: true,
  },
  public_url: {
    about: "Where other machines reach the daemon, such as https://box.example; links in notices begin with it.",
    isUsers: true,
  },
  runners: { about: "The path of a runner's program, variables for it, and the vendor's names of models." },
};

/** The entry of the name itself, otherwise of the nearest group around it. */
export function aboutSetting(name: string): AboutSetting | undefined {
  for (let key = name; key !== ""; key = key.slice(0, Math.max(0, key.lastIndexOf("."))))
    if (Object.hasOwn(ABOUT, key)) return ABOUT[key];
  return undefined;
}
