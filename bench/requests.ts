// What the real agent CLIs send to their vendors when a role works again, and how much of it a cache has: a build plan whose reviewer sends
// the work back twice, against scripted models. Bytes and tokens of recorded requests, so nothing depends on the machine.

import { missingPackages } from "../test/contract/installed.ts";
import { playIterations, type Repeated } from "../test/contract/repeated-requests.ts";
import { claude, codex } from "../test/contract/vendors.ts";
import type { Row } from "./measure.ts";

export async function measureRequests(): Promise<readonly Row[]> {
  const missing = missingPackages();
  const rows: Row[] = [];
  for (const vendor of [claude, codex]) {
    const repeated = missing.length === 0 ? (await playIterations(vendor)).repeated : [];
    const why = missing[0] ?? "the worst of dev, dod and review, 1→2→3";
    const row = (name: string, share: (each: Repeated) => number, limit?: Row["limit"]): Row => ({
      name: `${vendor.cli}: ${name}`,
      value: repeated.length === 0 ? undefined : Math.min(...repeated.map(share)) * 100,
      unit: "%",
      // Without the CLIs nothing can be measured, and nothing is missed.
      ...(limit === undefined || repeated.length === 0 ? {} : { limit }),
      note: why,
    });
    const isCached = ({ inCachedBlock, standing }: Repeated): number => (inCachedBlock === false ? 0 : standing);
    rows.push(
      row("standing part repeated in the cache", isCached, { is: "at least", value: 95 }),
      row("request repeated from its start", ({ request }) => request),
      row("request read from the cache", ({ cacheRead }) => cacheRead),
    );
  }
  return rows;
}
