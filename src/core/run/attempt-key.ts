// The name of an attempt among all of a store.

export function attemptKey(runId: string, stage: string, attempt: number): string {
  return `${runId}/${stage}/${attempt}`;
}
