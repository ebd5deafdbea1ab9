// A command's view of its caller: where to write, in which format, and the caller's folder and environment. Built in program.ts.

export type Io = {
  /** One line of data; goes to standard output. */
  readonly out: (line: string) => void;
  /** One line for the reader beside the data: progress, notes, errors. */
  readonly err: (line: string) => void;
  /** One document, or one JSON value per line for streams. */
  readonly json: boolean;
  /** Tab-separated lines; always so where standard output is not a terminal. */
  readonly plain: boolean;
  /** Ids only. */
  readonly quiet: boolean;
  readonly color: boolean;
  /** Standard output is a terminal with a size. */
  readonly tty: boolean;
  readonly columns: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's folder, absolute. */
  readonly cwd: string;
  /** The state folder; it may not exist yet. */
  readonly home: string;
  /** --no-ask: nothing is asked, also on a terminal. */
  readonly noAsk?: boolean;
  /** The name that --project gave; `cwd` is its folder. */
  readonly project?: string;
};
