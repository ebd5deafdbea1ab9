// The forty tickets of the night, in order: what their files say, how their agents behave, and what must be true of each in the morning.

export type Night = {
  /** How its agent behaves; default: it works. */
  readonly agent?: string;
  readonly status?: string;
  readonly flow?: string;
  /** Further lines of the front matter. */
  readonly keys?: readonly string[];
  readonly morning: Morning;
};

export type Morning = {
  /** The status word in its file. */
  readonly status: string;
  /** The state of its run; null: no run was ever started. */
  readonly run: string | null;
  /** Where its work is: in the remote's target, on a branch of the remote, or not on the remote at all. */
  readonly work: "main" | "branch" | "nowhere";
  /** The section of the report that has it, and no other has. */
  readonly report: "landed" | "ended" | "waiting" | "failed" | "cannotStart" | "later";
  /** The kind of its item or loose end; null if the inbox says nothing of it. */
  readonly inbox: string | null;
  /** What the inbox offers, in its words; the answers of an item. */
  readonly offers: readonly string[];
  /** The notices that were sent about it, each once. */
  readonly notices: readonly string[];
  /** Words of the cause: in the inbox and in the report. */
  readonly cause: RegExp;
};

export const NIGHT = {
  begins: "2026-03-10T22:00:00.000Z",
  beforeMidnight: "2026-03-10T23:50:00.000Z",
  midnight: "2026-03-11T00:00:01.000Z",
  quotaEnds: "2026-03-11T05:00:00.000Z",
  afterQuota: "2026-03-11T05:00:01.000Z",
  morning: "2026-03-11T07:00:00.000Z",
  /** Two of the paid tickets fit into a day, and a third after them at their usual cost. */
  dayUsd: 1.2,
};

const DONE: Morning = {
  status: "Done",
  run: "completed",
  work: "main",
  report: "landed",
  inbox: null,
  offers: [],
  notices: ["completed"],
  cause: /landed in main/u,
};
const NOWHERE = { run: null, work: "nowhere", inbox: null, offers: [], notices: [] } as const;

const AGAIN = ["again", "again with another agent"];
const stopped = (cause: RegExp, ...accept: readonly string[]): Morning => ({
  ...NOWHERE,
  status: "Blocked",
  run: "stopped",
  report: "failed",
  inbox: "stopped",
  offers: [...AGAIN, ...accept, "cancel", "show"],
  notices: ["stopped"],
  cause,
});
const broken = (status: string, cause: RegExp): Morning => ({
  ...NOWHERE,
  status,
  report: "cannotStart",
  inbox: "file",
  offers: ["check", "edit"],
  notices: ["file"],
  cause,
});
const after = (...numbers: readonly number[]): readonly string[] => [
  `dependsOn: [${numbers.map((number) => `AGI-${number}`).join(", ")}]`,
];
const variant = (group: string, number: number): readonly string[] => [
  `group: ${group}`,
  `variantHint: "Variant ${number}"`,
];
const QUOTA = `quota ${Date.parse(NIGHT.quotaEnds) / 1000}`;

export const TICKETS: readonly Night[] = [
  // 1 to 6: a chain with a branch.
  { morning: DONE },
  { keys: after(1), morning: DONE },
  { keys: after(2), morning: DONE },
  { keys: after(3), morning: DONE },
  { keys: after(1), morning: DONE },
  { keys: after(4, 5), morning: DONE },
  // 7 to 9: a chain that breaks in the middle.
  { morning: DONE },
  { agent: "fails", keys: after(7), morning: stopped(/code 3 \(the build is broken\)/u, "accept") },
  { keys: after(8), morning: { ...NOWHERE, status: "Backlog", report: "later", cause: /AGI-8 \(Blocked\)/u } },
  // 10, 11: agents that fall silent or die.
  { agent: "is silent", flow: "quiet", morning: stopped(/printed nothing/u, "accept") },
  { agent: "is killed", morning: stopped(/SIGKILL/u, "accept") },
  // 12 to 14: agents that ask; a person answers the second.
  {
    agent: "asks",
    morning: {
      ...NOWHERE,
      status: "Needs Human Decision",
      run: "waiting",
      report: "waiting",
      inbox: "question",
      notices: ["question"],
      cause: /Which colour shall the button have/u,
    },
  },
  { agent: "asks", morning: { ...DONE, notices: ["question", "completed"] } },
  {
    agent: "rejects",
    morning: {
      ...NOWHERE,
      status: "Needs Human Review",
      run: "waiting",
      report: "failed",
      inbox: "escalation",
      offers: ["again", "accept", "cancel"],
      notices: ["escalation"],
      cause: /The request contradicts itself/u,
    },
  },
  // 15: the program of its second stage is gone when it should start: there is nothing to accept.
  { agent: "removes the validator", status: "Needs Implement", morning: stopped(/validator.* does not exist/u) },
  // 16 to 20: independent variants, and variants one after the other.
  { keys: variant("login", 1), morning: DONE },
  { keys: variant("login", 2), morning: DONE },
  { keys: variant("login", 3), morning: DONE },
  { keys: variant("search", 1), morning: DONE },
  { keys: [...variant("search", 2), ...after(19)], morning: DONE },
  // 21 to 26: metered agents. Two fit into the first day. The fifth meets the vendor's quota, the sixth the budget of the second day.
  { flow: "paid", morning: DONE },
  { flow: "paid", morning: DONE },
  { flow: "paid", morning: DONE },
  { flow: "paid", morning: DONE },
  { flow: "paid", agent: QUOTA, keys: after(21, 22, 23, 24), morning: DONE },
  { flow: "paid", agent: "holds", keys: after(25), morning: DONE },
  // 27 to 34: files that nobody can use.
  { status: "Nedes Plan", morning: broken("Nedes Plan", /"Nedes Plan" is not a ticket status/u) },
  { keys: ["dependOn: [AGI-1]"], morning: broken("Backlog", /did you mean "dependsOn"/u) },
  { keys: ["dependsOn:"], morning: broken("Backlog", /dependsOn has no value/u) },
  { keys: after(99), morning: broken("Backlog", /there is no ticket AGI-99/u) },
  { keys: ["repo: elsewhere"], morning: broken("Backlog", /"elsewhere" is not allowed/u) },
  { keys: after(34), morning: broken("Backlog", /in a circle/u) },
  { keys: after(32), morning: broken("Backlog", /in a circle/u) },
  { keys: after(33), morning: broken("Backlog", /in a circle/u) },
  // 35, 36: work that a person merges; one of the two is merged in the night.
  {
    flow: "propose",
    morning: {
      status: "Awaiting Merge",
      run: "running",
      work: "branch",
      report: "waiting",
      inbox: "merge",
      offers: ["merged", "cancel"],
      notices: ["merge"],
      cause: /the branch feat\/AGI-35 to be merged into main/u,
    },
  },
  { flow: "propose", morning: { ...DONE, notices: ["merge", "completed"] } },
  // 37, 38: a person mends this one, and cancels the next while its agent works.
  { status: "Baklog", morning: { ...DONE, notices: ["file", "completed"] } },
  { agent: "holds", morning: { ...NOWHERE, status: "Canceled", run: "canceled", report: "ended", cause: /Canceled/u } },
  // 39: at work when the engine is killed.
  { agent: "holds", morning: DONE },
  // 40: the machine lacks its repository.
  {
    keys: ["repo: gone"],
    morning: {
      ...NOWHERE,
      status: "Backlog",
      report: "cannotStart",
      inbox: "blocked",
      offers: ["explain", "agents", "cancel"],
      notices: ["blocked"],
      cause: /its repository "gone" is not at/u,
    },
  },
];
