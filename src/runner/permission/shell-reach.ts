// Reads a shell command as far as needed to see which paths it deletes or writes, without running anything. Linear in the length of the
// command. What it cannot follow (a variable in the path to delete, a folder that is known at run time only) counts as outside.

export type ShellReach = {
  readonly cwd: string;
  readonly home: string;
  /** For absolute paths. */
  readonly mayDelete: (path: string) => boolean;
  readonly mayWrite: (path: string) => boolean;
};

/** The first path outside that the command deletes, moves away or writes, as it is written there. */
export function reachesOutside(command: string, reach: ShellReach): string | undefined {
  return inCommand(command, { ...reach, depth: 0 });
}

type Looking = ShellReach & { readonly depth: number };

/** More is no command that a person or this function could follow. */
const MOST_CHARS = 100_000;
const MOST_DEPTH = 4;
const MOST_PATHS = 1_000;

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash"]);
/** They run what follows. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "sudo doas env nohup time nice ionice command builtin exec xargs timeout setsid stdbuf busybox then do else if while until !".split(
    " ",
  ),
);
/** Every path that they name is changed or gone afterwards. */
const DELETES: ReadonlySet<string> = new Set("rm rmdir unlink shred truncate mv chmod chown chgrp".split(" "));
const WRITES: ReadonlySet<string> = new Set("tee touch mkdir cp install ln rsync dd".split(" "));

function inCommand(command: string, looking: Looking): string | undefined {
  if (command.length > MOST_CHARS || looking.depth > MOST_DEPTH) return command.slice(0, 60);
  let cwd: string | null = looking.cwd;
  for (const words of simpleCommands(command)) {
    const found = inWords(words, cwd, looking);
    if (found !== undefined) return found;
    cwd = folderAfter(words, cwd, looking);
  }
  return undefined;
}

function inWords(all: readonly Word[], cwd: string | null, looking: Looking): string | undefined {
  for (const { text, isTarget } of all) if (isTarget && !mayReach(text, cwd, looking, looking.mayWrite)) return text;
  const words = all.filter(({ isTarget }) => !isTarget).map(({ text }) => text);
  const start = words.findIndex((word) => !WRAPPERS.has(baseName(word)) && !isSetting(word) && !isFlag(word));
  const program = baseName(words[start] ?? "");
  const args = words.slice(start + 1);
  if (SHELLS.has(program) || program === "eval") {
    const scripts =
      program === "eval" ? [args.join(" ")] : args.filter((_, at) => /^-[a-z]*c$/u.test(args[at - 1] ?? ""));
    for (const script of scripts) {
      const found = inCommand(script, { ...looking, cwd: cwd ?? "/", depth: looking.depth + 1 });
      if (found !== undefined) return found;
    }
  }
  // A wrapper's own arguments may stand before the program: `timeout 5 rm …`.
  const verbs = start > 0 ? words.slice(0, start + 3).map(baseName) : [program];
  const deletes = verbs.some((verb) => DELETES.has(verb)) || (program === "find" && args.some(isFindsAct));
  const writes = verbs.some((verb) => WRITES.has(verb));
  if (!deletes && !writes) return undefined;
  const named =
    program === "find"
      ? args.slice(
          0,
          args.findIndex((arg) => arg.startsWith("-")),
        )
      : args;
  const paths = named.filter((arg) => !isFlag(arg)).map((arg) => (arg.startsWith("of=") ? arg.slice(3) : arg));
  // The first of these is a mode or an owner.
  const changed = ["chmod", "chown", "chgrp"].includes(program) ? paths.slice(1) : paths;
  // Of a copy only the last is written.
  const written = ["cp", "install", "ln", "rsync"].includes(program)
    ? changed.slice(-1)
    : changed.filter((arg) => !arg.startsWith("if="));
  if (written.length > MOST_PATHS) return `${written.length} paths`;
  // Where `find` begins stays; what it finds goes.
  const gone = program === "find" ? written.map((path) => `${path}/found`) : written;
  return gone.find((path) => !mayReach(path, cwd, looking, deletes ? looking.mayDelete : looking.mayWrite));
}

const isFlag = (word: string): boolean => word.startsWith("-") && word !== "-";
const isSetting = (word: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*=/u.test(word);
const isFindsAct = (word: string): boolean => word === "-delete" || word === "-exec" || word === "-execdir";
const baseName = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

function mayReach(written: string, cwd: string | null, looking: ShellReach, may: (path: string) => boolean): boolean {
  const path = expanded(written, looking, cwd);
  if (path === null) return false;
  if (path.startsWith("/")) return may(path);
  return cwd !== null && may(`${cwd}/${path}`);
}

/** With what is known of it; null where the shell alone knows. */
function expanded(path: string, { home, cwd }: ShellReach, at: string | null): string | null {
  const known = path
    .replace(/^~(?=\/|$)/u, () => home)
    .replace(/\$\{?HOME\}?(?![A-Za-z0-9_])/gu, () => home)
    .replace(/\$\{?PWD\}?(?![A-Za-z0-9_])/gu, () => at ?? cwd);
  return known.includes("$") || known.startsWith("~") ? null : known;
}

/** Where the next command works; null if that is known at run time only. */
function folderAfter(words: readonly Word[], cwd: string | null, looking: ShellReach): string | null {
  if (words[0]?.text !== "cd" && words[0]?.text !== "pushd") return cwd;
  const target = words.slice(1).find(({ text }) => !isFlag(text));
  if (target === undefined) return looking.home;
  const path = expanded(target.text, looking, cwd);
  if (path === null || path === "-") return null;
  if (path.startsWith("/")) return path;
  return cwd === null ? null : `${cwd}/${path}`;
}

/** `isTarget`: output is redirected there. */
type Word = { readonly text: string; readonly isTarget: boolean };

/** Splits at everything that begins another command, substitutions too. Quotes are taken off. */
function simpleCommands(command: string): readonly (readonly Word[])[] {
  const reading: Reading = { commands: [[]], text: null, isTarget: false };
  /** The quotes in which the open substitutions began. */
  const open: { readonly begun: "`" | "("; readonly quote: Quote }[] = [];
  let quote: Quote = null;
  for (let at = 0; at < command.length; at += 1) {
    const char = command[at] ?? "";
    if (quote === "'") {
      if (char === "'") quote = null;
      else add(reading, char);
    } else if (char === "\\") {
      at += 1;
      add(reading, command[at] === "\n" ? "" : (command[at] ?? ""));
    } else if (char === "`" || (char === "$" && command[at + 1] === "(")) {
      // What it prints is unknown, and so is a path that contains it.
      const begun = char === "`" ? "`" : "(";
      if (begun === "(" || open.at(-1)?.begun !== "`") {
        add(reading, "$");
        open.push({ begun, quote });
        quote = null;
      } else quote = open.pop()?.quote ?? null;
      nextCommand(reading);
      if (char === "$") at += 1;
    } else if (char === ")" && quote === null && open.at(-1)?.begun === "(") {
      quote = open.pop()?.quote ?? null;
      nextCommand(reading);
    } else if (char === '"') {
      quote = quote === null ? '"' : null;
      add(reading, "");
    } else if (quote === '"') add(reading, char);
    else if (char === "'") {
      quote = "'";
      add(reading, "");
    } else if (char === "#" && reading.text === null) at = endOfLine(command, at);
    else if (char === ">") {
      if (reading.text !== null && /^\d$|^&$/u.test(reading.text)) reading.text = null;
      endWord(reading);
      while (command[at + 1] === ">" || command[at + 1] === "|") at += 1;
      // `>&2` goes to another stream, not to a file.
      if (command[at + 1] === "&") at += 2;
      else reading.isTarget = true;
    } else if (";|\n(){}".includes(char) || (char === "&" && command[at + 1] !== ">")) nextCommand(reading);
    else if (char === "&") add(reading, char);
    else if (" \t\r<".includes(char)) endWord(reading);
    else add(reading, char);
  }
  endWord(reading);
  return reading.commands.filter((words) => words.length > 0);
}

type Quote = '"' | "'" | null;
type Reading = { readonly commands: Word[][]; text: string | null; isTarget: boolean };

function add(reading: Reading, text: string): void {
  reading.text = (reading.text ?? "") + text;
}

function endWord(reading: Reading): void {
  if (reading.text === null) return;
  reading.commands.at(-1)?.push({ text: reading.text, isTarget: reading.isTarget });
  reading.text = null;
  reading.isTarget = false;
}

function nextCommand(reading: Reading): void {
  endWord(reading);
  reading.isTarget = false;
  reading.commands.push([]);
}

function endOfLine(command: string, at: number): number {
  const end = command.indexOf("\n", at);
  return end < 0 ? command.length : end - 1;
}
