// One request to a model with its answer, as the tape of an attempt has it.

export type TapedExchange = {
  /** From 1, in the order in which answers were complete. */
  readonly number: number;
  readonly at: string;
  readonly ms: number;
  readonly route: string;
  readonly method: string;
  /** Below the route, with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the text. */
  readonly requestHash: string;
  readonly request: string;
  readonly responseHash: string;
  readonly response: string;
};

/**
 * The values that differ in every attempt and occur in its conversation: folders, the nonce, addresses. Name -> value. A replay has its own values
 * under the same names.
 */
export type TapePlaces = Readonly<Record<string, string>>;
