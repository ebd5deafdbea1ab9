// Passrail itself, on a file and on Postgres.

import { readAddress } from "../../src/settings/database.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { featureFlow, openWorkload, unlimited } from "../workload.ts";
import type { Contestant, Place } from "./contestant.ts";

export async function openOnFile({ dir }: Place): Promise<Contestant> {
  return withoutLatencies(await openWorkload(dir, { flow: unlimited(featureFlow()) }));
}

export async function openOnPostgres({ dir, database }: Place): Promise<Contestant> {
  const address = readAddress(database, "the bench");
  if (!address.ok) throw new Error(address.error.message);
  const store = await openPostgresStore({ address: address.value, owner: true });
  return withoutLatencies(await openWorkload(dir, { flow: unlimited(featureFlow()), store }));
}

function withoutLatencies(workload: Awaited<ReturnType<typeof openWorkload>>): Contestant {
  return {
    async complete(runs) {
      await workload.complete(runs);
      workload.latencies.length = 0;
    },
    close: () => workload.close(),
  };
}
