// The health of an endpoint, from the log of its deliveries.

import type { Deliveries, NoticeDelivery } from "./deliveries.ts";
import type { EndpointStatus } from "./delivery-log.ts";
import type { Endpoint } from "./endpoint.ts";
import { targetOf } from "./sign.ts";

export function endpointStatus(endpoint: Endpoint, log: Pick<Deliveries, "list" | "isDisabled">): EndpointStatus {
  const own = log.list().filter((delivery) => delivery.endpoint === endpoint.name);
  const last = own
    .flatMap((delivery) => lastTry(delivery) ?? [])
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .at(-1);
  return {
    name: endpoint.name,
    format: endpoint.format,
    disabled: log.isDisabled(endpoint.name, targetOf(endpoint)),
    pending: own.filter(({ state }) => state.status === "pending").length,
    failing: last === undefined || last.result === "delivered" ? null : last.result,
  };
}

function lastTry({ history }: NoticeDelivery): { readonly at: string; readonly result: string } | undefined {
  return history.at(-1);
}
