// Remembers the hash that each run ends with, so that the hashes of its next events can be computed before the database is asked. A head
// that is wrong or forgotten costs one more round trip.

const HEADS_AT_MOST = 10_000;

export function createHeads() {
  const heads = new Map<string, { readonly version: number; readonly head: string }>();
  return {
    of(runId: string, version: number): string | undefined {
      const known = heads.get(runId);
      return known?.version === version ? known.head : undefined;
    },
    know(runId: string, version: number, head: string): void {
      if (heads.size >= HEADS_AT_MOST) heads.clear();
      heads.set(runId, { version, head });
    },
    forget: (runId: string): void => void heads.delete(runId),
  };
}
