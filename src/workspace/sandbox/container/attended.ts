// The command line of the program beside a container. Values of variables are in its environment.

/** For a program that must reach Passrail. */
export type WayToPassrail = {
  /** Ports of this machine's loopback. */
  readonly ports: readonly number[];
  /** The folder of the gate, seen inside at the same path. */
  readonly gate: string;
  /** Made when the program begins. */
  readonly begun: string;
};

export type ContainerCall = {
  /** Absolute. */
  readonly client: string;
  readonly container: string;
  /** A file that says that there may be this container. */
  readonly note: string;
  readonly way: WayToPassrail | null;
  readonly args: readonly string[];
};

/** The client's arguments stay apart: together they may be longer than one may be. */
export function attendedWords({ client, container, note, way, args }: ContainerCall): readonly string[] {
  return [client, container, note, JSON.stringify(way), ...args];
}

export function readAttended(words: readonly string[]): ContainerCall {
  const [client = "", container = "", note = "", way = "null", ...args] = words;
  return { client, container, note, way: JSON.parse(way) as WayToPassrail | null, args };
}
