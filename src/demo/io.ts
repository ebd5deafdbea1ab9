// The part of a command's input and output that the demo needs.

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
