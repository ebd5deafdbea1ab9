// `passrail "fix the typo"` is `passrail run "fix the typo"`: a text with a space cannot be a command. A single word stays a command, so that
// a mistyped one starts nothing.

/** Global options whose value is the next word. */
const WITH_VALUE: ReadonlySet<string> = new Set(["--cwd", "--home", "--project"]);

export function isTask(word: string): boolean {
  return /\s/u.test(word.trim());
}

/** The words of the call, with `run` before a task. */
export function withRun(args: readonly string[]): readonly string[] {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (WITH_VALUE.has(word)) at++;
    else if (word === "--") return isTask(args[at + 1] ?? "") ? args.toSpliced(at, 0, "run") : args;
    else if (!word.startsWith("-")) return isTask(word) ? args.toSpliced(at, 0, "run") : args;
  }
  return args;
}
