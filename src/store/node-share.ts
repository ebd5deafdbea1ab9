// The data that the nodes of one database share besides runs: copies of attempts' files from one machine, the keys of
// their clients, and their own addresses. A store in a file has none of it: everything is beside the file.

export type NodeShare = {
  /** Replaces one of the same name. Durable when answered. */
  saveCopy(copy: RunCopy & { readonly runId: string; readonly data: Uint8Array }): Promise<void>;
  /** In the order in which they were saved. */
  copies(runId: string): Promise<readonly RunCopy[]>;
  loadCopy(runId: string, name: string): Promise<Buffer | undefined>;

  keys(): Promise<readonly SharedKey[]>;
  /** One that was revoked stays revoked. */
  putKey(key: SharedKey): Promise<void>;

  /** This node lives; `body` describes it to the others. */
  announce(id: string, body: string): Promise<void>;
  /** Those that were heard of within a minute. */
  nodes(): Promise<readonly SharedNode[]>;
};

export type RunCopy = {
  readonly name: string;
  /** The node that has the original. */
  readonly by: string;
  /** JSON for the reader of the copy. */
  readonly about: string;
};

export type SharedKey = { readonly id: string; readonly body: string; readonly isRevoked: boolean };
export type SharedNode = { readonly id: string; readonly body: string };
