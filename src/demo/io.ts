// What the demo needs of whoever shows it: a part of what every command is given.

export type DemoIo = {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly json: boolean;
  readonly color: boolean;
  readonly tty: boolean;
  readonly columns: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The exit code after Ctrl-C. */
export const INTERRUPTED = 130;
