// The shell scripts that run in the sandbox. Every value from outside is quoted; Passrail chooses the paths.

import { DEPTH } from "./pack.ts";

export type Remote = { readonly root: string; readonly workspace: string };

export const remoteOf = (name: string): Remote => {
  const root = `/tmp/passrail-${name}`;
  return { root, workspace: `${root}/workspace` };
};

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Before anything is sent: from now on a program may start here. An earlier one whose start got no answer, or whose sender was killed, must not
 * work beside it; its number is only that of its process as long as that names it. Prints what the repository has.
 */
export function openPlace({ root, workspace }: Remote): string {
  return lines(
    `mkdir -p ${root} && rm -f ${root}/closed`,
    `pid=$(cat ${root}/pid 2>/dev/null) && grep -qs ${root}/pid "/proc/$pid/cmdline" && kill -KILL "-$pid"`,
    `cd ${workspace}/.git 2>/dev/null || exit 0`,
    "git for-each-ref --format='passrail-has %(objectname)' refs/passrail",
    SHALLOW,
  );
}

const SHALLOW = "sed 's/^/passrail-shallow /' shallow 2>/dev/null; exit 0";

/** Makes the repository from the project's remote, as far as somebody without a login may read it, and prints what it has. */
export function cloneInside({ workspace }: Remote, url: string): string {
  const fetch =
    "git -c credential.helper= -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=20 fetch -q --no-tags --no-recurse-submodules";
  return lines(
    `mkdir -p ${workspace} && cd ${workspace} && git init -q . || exit 1`,
    "export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=true",
    `${fetch} --depth=${DEPTH} ${quote(url)} +HEAD:refs/passrail/remote/head </dev/null || exit 1`,
    `git rev-list --max-count=${DEPTH} refs/passrail/remote/head | sed 's/^/passrail-has /'`,
    `cd .git && ${SHALLOW}`,
  );
}

type Taken = { readonly head: string; readonly work: string; readonly shallow: readonly string[] };

/** Applies push.pack: the branch, and the uncommitted work on top. Ignored files stay from before. */
export function takeOver({ root, workspace }: Remote, branch: string, { head, work, shallow }: Taken): string {
  return lines(
    "set -e",
    `mkdir -p ${workspace} && cd ${workspace}`,
    "git init -q .",
    ...shallow.map((name) => `grep -qsx ${name} .git/shallow || echo ${name} >> .git/shallow`),
    `git index-pack --stdin < ${root}/push.pack > /dev/null`,
    `rm -f ${root}/push.pack`,
    `git update-ref refs/passrail/push/head ${head}`,
    `git update-ref refs/passrail/push/work ${work}`,
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
export function startProgram({ root }: Remote, cwd: string, argv: readonly string[], relay?: Relay): string {
  const program = `cd ${quote(cwd)} && { set -a; . ${root}/env; set +a; ${argv.map(quote).join(" ")}; } < ${root}/prompt > ${root}/out 2> ${root}/err`;
  // TERM is for the program; this shell says with which code it then ended.
  const whole = `trap : TERM; echo $$ > ${root}/pid; [ ! -e ${root}/closed ] || exit 9; ${program}; code=$?; ${endRelay(root)}; echo $code > ${root}/exit.tmp; mv ${root}/exit.tmp ${root}/exit`;
  return lines(
    ...(relay === undefined ? [] : startRelay(root, relay)),
    `rm -f ${root}/exit ${root}/pid; : > ${root}/out; : > ${root}/err; chmod 600 ${root}/env`,
    `setsid sh -c ${quote(whole)} </dev/null >/dev/null 2>&1 &`,
    "exit 0",
  );
}

/** A program there that is Passrail's side of the way to its services; `file`: its name. */
export type Relay = { readonly file: string; readonly ports: readonly number[] };

/** The exit code of an image without what the relay needs. */
export const NO_NODE = 3;

/** Whatever an earlier program left of its own is ended and removed first. */
function startRelay(root: string, { file, ports }: Relay): readonly string[] {
  const folder = `${root}/relay`;
  return [
    `[ ! -e ${root}/closed ] || exit 9`,
    `command -v node > /dev/null || { echo "it has no node"; exit ${NO_NODE}; }`,
    endRelay(root),
    `rm -rf ${folder}; mkdir -p ${folder}/in ${folder}/out`,
    `setsid node ${root}/${file} ${folder} ${ports.join(" ")} </dev/null >/dev/null 2>${root}/relay.err &`,
    `i=0; until [ -e ${folder}/ready ] || [ $i -ge 300 ]; do i=$((i+1)); sleep 0.05; done`,
    `[ -e ${folder}/ready ] || { tail -n 3 ${root}/relay.err; exit 4; }`,
  ];
}

function endRelay(root: string): string {
  return `kill -9 $(cat ${root}/relay/pid 2>/dev/null) 2>/dev/null`;
}

/** Waits a moment for the next file of what was said inside, and removes the one before. */
export function nextFromRelay({ root }: Remote, number: number): string {
  return lines(
    `cd ${root}/relay/out || exit 1`,
    `rm -f ${number - 1}; i=0`,
    `until [ -e ${number} ] || [ $i -ge 100 ]; do i=$((i+1)); sleep 0.05; done`,
    `[ ! -e ${number} ] || cat ${number}`,
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
  const relay = signal === "KILL" ? `; ${endRelay(root)}` : "";
  // Without `--`, which the shell of Debian does not take here.
  return `${closes}pid=$(cat ${root}/pid 2>/dev/null) && kill -${signal} "-$pid" 2>/dev/null${relay}; exit 0`;
}

const lines = (...parts: readonly string[]): string => `sh -c ${quote(parts.join("\n"))}`;
