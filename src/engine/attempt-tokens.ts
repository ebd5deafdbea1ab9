// The token of an attempt: its program may speak for its own story and nothing else, and only until the attempt has ended. Known in memory
// only: no attempt outlives the engine that started it.

export type AttemptIdentity = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  /** As it is shown: the name under which the story knows it. */
  readonly agent: string;
  readonly subjectId: string;
};

export type AttemptTokens = {
  issue(identity: AttemptIdentity): string;
  find(token: string): AttemptIdentity | undefined;
  withdraw(runId: string, stage: string, attempt: number): void;
};

export function createAttemptTokens(newId: () => string): AttemptTokens {
  const identities = new Map<string, AttemptIdentity>();
  return {
    issue(identity) {
      // Not the attempt's nonce: that one stands in the prompt, which others may read.
      const token = `pr_at_${newId()}${newId()}`;
      identities.set(token, identity);
      return token;
    },
    find: (token) => identities.get(token),
    withdraw(runId, stage, attempt) {
      for (const [token, each] of identities) {
        if (each.runId === runId && each.stage === stage && each.attempt === attempt) identities.delete(token);
      }
    },
  };
}
