// The command line of the programs beside a container. Values of variables are in their environment.
//
// A shell starts the engine's client and, beside it, the program that ends the container with it. Started one after the other, that program's
// own start came before the container's. The client's exit code comes through a pipe. A signal is not for the shells: they end with the others.

import { shellWord } from "../../../core/shell-word.ts";
import { pipeOf } from "./gate.ts";
import { removal } from "./removal.ts";

/** For a program that must reach Passrail. */
export type WayToPassrail = {
  /** Both absolute: programs beside a container work in its clone, to which a PATH may lead. */
  readonly nsenter: string;
  readonly mkfifo: string;
  /** Ports of this machine's loopback. */
  readonly ports: readonly number[];
  /** The folder of the gate, seen inside at the same path. */
  readonly gate: string;
  /** Made when the program begins. */
  readonly begun: string;
};

export type AttendedContainer = {
  /** Absolute. */
  readonly client: string;
  readonly container: string;
  /** A file that says that there may be this container. */
  readonly note: string;
  readonly way: WayToPassrail | null;
};

/** `args`: of the client. */
export function besideContainer(
  attend: string,
  words: AttendedContainer,
  args: readonly string[],
): readonly [string, ...string[]] {
  return ["/bin/sh", "-c", besideScript(attend, words), "passrail", ...args];
}

/** Less than the time between TERM and KILL of an attempt: a program that does not listen is removed with its container then. */
export const PATIENCE_MS = 3_000;

/**
 * 5 and 6 are the program's own stdin and stdout, 1 the pipe. It has no variables of its own, because one of the same name could be meant for
 * the container, and it calls nothing by a bare name.
 *
 * If the program beside the container ends before its work is done, such as by a signal while it still loads, its shell does that: it gives the
 * program inside the same time, and removes the container. The note stays then, because the container may only now be made.
 */
function besideScript(attend: string, { client, container, note, way }: AttendedContainer): string {
  const line = (words: readonly string[]): string => words.map(shellWord).join(" ");
  const beside = line([process.execPath, attend, client, container, note, JSON.stringify(way)]);
  const sleep = line([process.execPath, "-e", `setTimeout(() => {}, ${PATIENCE_MS})`]);
  const remove = `${line([client, ...removal(client), container])} > /dev/null 2>&1`;
  return [
    "trap : TERM INT HUP",
    ...(way === null ? [] : [`${line([way.mkfifo, "-m", "600", pipeOf(way.gate)])} || exit 70`]),
    "exec 5<&0 6>&1",
    "{",
    "trap : TERM INT HUP",
    `${line([client])} "$@" <&5 >&6 5<&- 6>&-`,
    'echo "$?"',
    "} | {",
    "trap : TERM INT HUP",
    `${beside} 5<&- 6>&-`,
    'set -- "$?"',
    `if [ "$1" -gt 128 ] && [ -e ${line([note])} ]; then`,
    `{ ${sleep}; ${remove}; } &`,
    // When the client has ended.
    "read -r _",
    'kill "$!" 2> /dev/null',
    remove,
    "fi",
    'exit "$1"',
    "}",
  ].join("\n");
}

export function readAttended(words: readonly string[]): AttendedContainer {
  const [client = "", container = "", note = "", way = "null"] = words;
  return { client, container, note, way: JSON.parse(way) as WayToPassrail | null };
}
