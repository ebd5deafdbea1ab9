// One try to send one message: a new connection to a checked address, no redirects, limits on time and on the answer's size. Only the
// status is kept.

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type LookupFunction, isIP } from "node:net";
import { type HostAddress, checkUrl, hostOf, type Permissions, type Resolve, vetTarget } from "./address.ts";

export type Outgoing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly permissions: Permissions;
  readonly ca: string | null;
};

export type SendOutcome =
  | { readonly type: "answered"; readonly status: number; readonly retryAfterMs: number | null }
  /** From a command that exited with 0. */
  | { readonly type: "done" }
  | { readonly type: "unreachable"; readonly reason: string }
  /** Nothing was sent, and nothing can be until the settings change. */
  | { readonly type: "refused"; readonly reason: string };

export type SendOptions = { readonly resolve: Resolve; readonly timeoutMs: number; readonly signal: AbortSignal };

const MAX_ANSWER_BYTES = 64 * 1024;

export async function send(outgoing: Outgoing, { resolve, timeoutMs, signal }: SendOptions): Promise<SendOutcome> {
  const url = checkUrl(outgoing.url, outgoing.permissions);
  if (!url.ok) return { type: "refused", reason: url.error.message };
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  // A name server may hang too, and a lookup cannot be aborted.
  const target = await Promise.race([vetTarget(url.value, outgoing.permissions, resolve), aborted(limit)]);
  if (target === "aborted") return { type: "unreachable", reason: reasonOf(limit.reason) };
  if (!target.ok) {
    const type = target.error.code === "host_not_found" ? "unreachable" : "refused";
    return { type, reason: target.error.message };
  }
  return post(url.value, target.value, outgoing, limit);
}

function post(
  url: URL,
  addresses: readonly [HostAddress, ...HostAddress[]],
  { headers, body, ca }: Outgoing,
  signal: AbortSignal,
): Promise<SendOutcome> {
  return new Promise((resolve) => {
    const host = hostOf(url);
    const options = {
      method: "POST",
      host,
      port: url.port === "" ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" },
      // The certificate must still match the name; only the address is ours.
      lookup: lookupOf(addresses),
      // Never reuse a connection.
      agent: false,
      signal,
    } as const;
    const onAnswer = (response: IncomingMessage) => {
      resolve({
        type: "answered",
        status: response.statusCode ?? 0,
        retryAfterMs: retryAfter(response.headers["retry-after"]),
      });
      let bytes = 0;
      response.on("error", () => {});
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
    };
    const request =
      url.protocol === "https:"
        ? requestHttps(
            { ...options, ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === null ? {} : { ca }) },
            onAnswer,
          )
        : requestHttp(options, onAnswer);
    request.on("error", (error) =>
      resolve({ type: "unreachable", reason: reasonOf(signal.aborted ? signal.reason : error) }),
    );
    // Also after an unusable answer, such as an upgrade.
    request.on("close", () => resolve({ type: "unreachable", reason: "closed without an answer" }));
    request.end(body);
  });
}

/** Node asks for one address or for all. */
function lookupOf(addresses: readonly [HostAddress, ...HostAddress[]]): LookupFunction {
  return (_host, { all }, answer) => {
    if (all === true) answer(null, [...addresses]);
    else answer(null, addresses[0].address, addresses[0].family);
  };
}

/** Seconds only; a date would need synchronised clocks. */
function retryAfter(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null;
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

/** An error code of the system, never text from the receiver. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "stopped";
  if (error.name === "TimeoutError") return "no answer in time";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
