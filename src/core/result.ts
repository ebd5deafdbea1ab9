// Doubtful input gives a value, not an exception: every reader at the edge returns a `Result`.

export type Result<T, E = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** A problem in words for the reader: `code` is stable and documented, `message` says what and where, `hint` what to do. */
export type Problem = {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The input that it is about, as a path with slashes: `input/plan.spec`. */
  readonly field?: string;
};

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });
export const err = <E>(error: E): Result<never, E> => ({ ok: false, error });

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
