// The facts about each process for the process table, and their source: /proc, or the program ps.

export type ProcessEntry = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** 0 if the system does not report it. */
  readonly sessionId: number;
  readonly startTime: string;
  /** A zombie: it has ended, and its parent has not collected it. */
  readonly dead: boolean;
};

export type ProcessSource = {
  readonly list: () => ProcessEntry[];
  readonly entry: (pid: number) => ProcessEntry | undefined;
  /** False for a start time of before the last start of the machine, where the system can tell. */
  readonly isSinceBoot: (startTime: string) => boolean;
  /** Whether a process with the first start time began before one with the second; false where the system cannot tell. */
  readonly isEarlier: (startTime: string, other: string) => boolean;
  /** The value of an environment variable for those of our own processes that have it. */
  readonly markers: (pids: Iterable<number>, variable: string) => Map<number, string>;
};
