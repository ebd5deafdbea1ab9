// One request to an OTLP collector over HTTP, as JSON.

import type { TelemetrySettings } from "./telemetry-settings.ts";

/** "refused": the collector does not take this and never will. Throws if it should be tried again: it is away, or says so. */
export async function postOtlp(
  { headers, timeoutMs, url }: TelemetrySettings,
  body: object,
): Promise<"taken" | "refused"> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (response.status === 429 || response.status >= 500) throw new Error(`the collector answered ${response.status}`);
  return response.ok ? "taken" : "refused";
}

/** Who sends: the same for every signal. */
export function senderOf({ resource }: TelemetrySettings) {
  return {
    resource: {
      attributes: Object.entries(resource).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    },
    scope: { name: "passrail", version: resource["service.version"] ?? "" },
  };
}
