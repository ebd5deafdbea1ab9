// Words that other tools use for what Passrail does. Each names the command that the person probably meant, and runs nothing.

const MEANT: Readonly<Record<string, string>> = {
  add: 'passrail ticket new "title"   or   passrail "task"',
  agents: "passrail agent list",
  answer: 'passrail ask answer ITEM "text"',
  approve: "passrail gate approve ITEM",
  cancel: "passrail runs cancel RUN",
  check: "passrail doctor   or   passrail flow check",
  create: 'passrail "task"   or   passrail ticket new "title"',
  dashboard: "passrail up --detach && passrail open",
  delete: "passrail discard RUN",
  diff: "passrail runs diff RUN",
  env: "passrail config list",
  flows: "passrail flow list",
  land: "passrail merge RUN",
  list: "passrail runs list",
  log: "passrail runs logs RUN   or   passrail logs",
  login: "passrail agent list   says which agents are logged in, and how to log in",
  ls: "passrail runs list",
  new: 'passrail "task"',
  pause: "passrail runs pause RUN",
  ps: "passrail runs list --status running",
  reject: "passrail gate reject ITEM",
  resume: "passrail runs resume RUN   or   passrail runs watch RUN",
  retry: "passrail runs retry RUN",
  rm: "passrail discard RUN",
  serve: "passrail up",
  setup: "passrail init",
  show: "passrail runs show RUN",
  task: 'passrail "task"',
  tickets: "passrail ticket list",
  ui: "passrail up --detach && passrail open",
  uninstall: "npm uninstall -g passrail",
  update: "npm install -g passrail@latest",
  upgrade: "npm install -g passrail@latest",
  watch: "passrail runs watch RUN",
  web: "passrail up --detach && passrail open",
};

/** Undefined for a word that no other tool is known for. */
export function meantCommand(word: string): string | undefined {
  return Object.hasOwn(MEANT, word) ? MEANT[word] : undefined;
}
