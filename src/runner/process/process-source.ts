// What the process table needs to know of each process, and where it gets that from: /proc, or the program ps.

export type ProcessEntry = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** 0 where the system does not tell. */
  readonly sessionId: number;
  readonly startTime: string;
  /** A zombie: it has ended and only waits for its parent to notice. */
  readonly dead: boolean;
};

export type ProcessSource = {
  readonly list: () => ProcessEntry[];
  readonly entry: (pid: number) => ProcessEntry | undefined;
  /** The value of an environment variable for those of our own processes that have it. */
  readonly markers: (pids: Iterable<number>, variable: string) => Map<number, string>;
};
