// The log of sent notices, and their endpoints.

import type { Refusal } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import type { DeliveryLog, SentDelivery } from "../../../notify/delivery-log.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

export function mountDeliveries(mount: MountRoute, { deliveries = NOTHING }: ServerDeps): void {
  mount.json(ROUTES.listDeliveries, async ({ query: { limit, endpoint } }) => {
    const wanted = deliveries.deliveries().filter((each) => endpoint === undefined || each.endpoint === endpoint);
    return ok({ deliveries: wanted.slice(0, limit).map((each) => ({ ...each })) });
  });

  mount.json(ROUTES.redeliver, async ({ params }) => shown(await deliveries.redeliver(params.delivery)));

  mount.json(ROUTES.listEndpoints, async () => ok({ endpoints: deliveries.endpoints().map((each) => ({ ...each })) }));

  mount.json(ROUTES.testEndpoint, async ({ params }) => shown(await deliveries.sendTest(params.endpoint)));

  mount.json(ROUTES.enableEndpoint, async ({ params }) => {
    const enabled = await deliveries.enable(params.endpoint);
    if (!enabled.ok) return err(refusalOf(enabled.error));
    const now = deliveries.endpoints().find(({ name }) => name === params.endpoint);
    return now === undefined ? err(refusalOf(NO_ENDPOINT)) : ok({ ...now });
  });
}

function shown(result: Result<SentDelivery>): Result<SentDelivery, Refusal> {
  return result.ok ? result : err(refusalOf(result.error));
}

const CODES = ["delivery_not_found", "delivery_running", "endpoint_not_found", "endpoint_disabled"] as const;

function refusalOf({ code, message }: Problem): Refusal {
  const known = CODES.find((each) => each === code);
  if (known === undefined) throw new Error(`${code}: ${message}`);
  return { code: known, detail: message };
}

const NO_DELIVERY: Problem = { code: "delivery_not_found", message: "Nothing is sent: no endpoint is set up." };
const NO_ENDPOINT: Problem = { code: "endpoint_not_found", message: "There is no such endpoint." };

/** For a daemon without notifications. */
const NOTHING: DeliveryLog = {
  deliveries: () => [],
  endpoints: () => [],
  redeliver: async () => err(NO_DELIVERY),
  sendTest: async () => err(NO_ENDPOINT),
  enable: async () => err(NO_ENDPOINT),
};
