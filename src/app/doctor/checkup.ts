// One line of `doctor`: the checked thing, its state, and the fix.

export type Checkup = {
  readonly name: string;
  /** fail: runs cannot start, or can lose something. warn: something is missing that a run may need. */
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  /** Empty where nothing needs fixing. */
  readonly fix: string;
  /** For `--fix`: only where Passrail's own files are changed, and nothing can be lost. Returns what it did. */
  readonly mend?: () => string;
};

export const good = (name: string, found: string): Checkup => ({ name, state: "ok", found, fix: "" });
export const doubtful = (name: string, found: string, fix: string): Checkup => ({ name, state: "warn", found, fix });
export const bad = (name: string, found: string, fix: string): Checkup => ({ name, state: "fail", found, fix });
