// One try to hand over one message: a connection of its own to an address that was looked at, no redirects, bounded in time and in what is
// read of the answer. Only the status counts; what else the receiver says is neither kept nor shown.

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
  /** By a command that ended well. */
  | { readonly type: "done" }
  | { readonly type: "unreachable"; readonly reason: string }
  /** Nothing was sent, and nothing will be while the settings are what they are. */
  | { readonly type: "refused"; readonly reason: string };

export type SendOptions = { readonly resolve: Resolve; readonly timeoutMs: number; readonly signal: AbortSignal };

const MAX_ANSWER_BYTES = 64 * 1024;

export async function send(outgoing: Outgoing, { resolve, timeoutMs, signal }: SendOptions): Promise<SendOutcome> {
  const url = checkUrl(outgoing.url, outgoing.permissions);
  if (!url.ok) return { type: "refused", reason: url.error.message };
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  // A name server may hang as well, and looking up cannot be ended.
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
      // The name stays what the certificate has to fit; only where it leads is ours.
      lookup: lookupOf(addresses),
      // Never a connection that was opened for something else.
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
    // Also after an answer that is none, like an upgrade.
    request.on("close", () => resolve({ type: "unreachable", reason: "closed without an answer" }));
    request.end(body);
  });
}

/** Node asks for all addresses or for one, as it likes. */
function lookupOf(addresses: readonly [HostAddress, ...HostAddress[]]): LookupFunction {
  return (_host, { all }, answer) => {
    if (all === true) answer(null, [...addresses]);
    else answer(null, addresses[0].address, addresses[0].family);
  };
}

/** Seconds only; a date would need a clock that agrees with ours. */
function retryAfter(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null;
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

/** A word of the system, never text of the other side. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "stopped";
  if (error.name === "TimeoutError") return "no answer in time";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
