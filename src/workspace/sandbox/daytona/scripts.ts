// The shell scripts that run in the sandbox. Every value from outside is quoted; Passrail chooses the paths.

export type Remote = { readonly root: string; readonly workspace: string };

export const remoteOf = (name: string): Remote => {
  const root = `/tmp/passrail-${name}`;
  return { root, workspace: `${root}/workspace` };
};

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Before anything is sent: from now on a program may start here. */
export function openPlace({ root }: Remote): string {
  return lines(`mkdir -p ${root} && rm -f ${root}/closed`);
}

/** Applies push.bundle: the branch, and the uncommitted work on top. Ignored files stay from before. */
export function takeOver({ root, workspace }: Remote, branch: string): string {
  return lines(
    "set -e",
    `mkdir -p ${workspace} && cd ${workspace}`,
    "git init -q .",
    `git fetch -q ${root}/push.bundle '+refs/passrail/push/*:refs/passrail/push/*'`,
    `git checkout -q -f -B ${quote(branch)} refs/passrail/push/head`,
    "git read-tree --reset -u refs/passrail/push/work",
    "git reset -q",
  );
}

/** Prints the current commits of the branch and the work, and writes the commits that Passrail lacks to pull.bundle. */
export function handOver({ root, workspace }: Remote): string {
  return lines(
    `cd ${workspace} && head=$(git rev-parse --verify -q HEAD) || exit 3`,
    `rm -f ${root}/pull.bundle ${root}/index; cp .git/index ${root}/index 2>/dev/null`,
    `export GIT_INDEX_FILE=${root}/index`,
    "git add -A && tree=$(git write-tree) || exit 4",
    'work=$head; [ "$tree" = "$(git rev-parse HEAD^{tree})" ] || ' +
      'work=$(git -c user.name=agent -c user.email=agent@localhost commit-tree "$tree" -p "$head" -m work) || exit 5',
    'git update-ref refs/passrail/pull/work "$work"',
    `git bundle create -q ${root}/pull.bundle refs/passrail/pull/work --not refs/passrail/push/head refs/passrail/push/work >/dev/null 2>&1`,
    `[ -s ${root}/pull.bundle ] && bundle=yes || bundle=no`,
    'echo "passrail-work $head $work $bundle"',
  );
}

/**
 * Starts the program in its own session and returns at once. A request may arrive after its sender has died and somebody else has ended
 * everything here: then the program must not begin, because nobody would fetch its work.
 */
export function startProgram({ root }: Remote, cwd: string, argv: readonly string[]): string {
  const program = `cd ${quote(cwd)} && { set -a; . ${root}/env; set +a; ${argv.map(quote).join(" ")}; } < ${root}/prompt > ${root}/out 2> ${root}/err`;
  const whole = `echo $$ > ${root}/pid; [ ! -e ${root}/closed ] || exit 9; ${program}; echo $? > ${root}/exit.tmp; mv ${root}/exit.tmp ${root}/exit`;
  return lines(
    `rm -f ${root}/exit ${root}/pid; : > ${root}/out; : > ${root}/err; chmod 600 ${root}/env`,
    `setsid sh -c ${quote(whole)} </dev/null >/dev/null 2>&1 &`,
    "exit 0",
  );
}

const PIECE = 192 * 1024;

/** Three lines: new stdout, new stderr, and the exit code or a dash. */
export function lookAtProgram({ root }: Remote, seen: { readonly out: number; readonly err: number }): string {
  const piece = (name: string, from: number): string =>
    `tail -c +${from + 1} ${root}/${name} | head -c ${PIECE} | base64 | tr -d '\\n'; echo`;
  // The exit code is read first: text printed after it is not the program's output.
  return lines(
    `code=$(cat ${root}/exit 2>/dev/null || echo -)`,
    piece("out", seen.out),
    piece("err", seen.err),
    'echo "$code"',
  );
}

export function endProgram({ root }: Remote, signal: "TERM" | "KILL"): string {
  // Whoever starts writes its pid before it looks for this file.
  const closes = signal === "KILL" ? `: > ${root}/closed; ` : "";
  return `${closes}pid=$(cat ${root}/pid 2>/dev/null) && kill -${signal} -- "-$pid" 2>/dev/null; exit 0`;
}

const lines = (...parts: readonly string[]): string => `sh -c ${quote(parts.join("\n"))}`;
