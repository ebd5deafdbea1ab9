// The part of a daemon that other machines reach: a listener of its own with TLS, beside the one on loopback, and the names that it answers to.

import { isIP } from "node:net";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type Certificate, readCertificate, type TlsFiles } from "../http/server/certificate.ts";

export type Exposure = {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles & { readonly certificate: Certificate };
};

export type ExposureWish = {
  /** An address of this machine, with a port or without one. */
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
};

const PORT = 7443;

/** Null: only this machine reaches the daemon. */
export function readExposure(
  { listen, tlsCert, tlsKey }: ExposureWish,
  pathOf: (file: string) => string,
): Result<Exposure | null> {
  if (listen === undefined && tlsCert === undefined && tlsKey === undefined) return ok(null);
  if (listen === undefined)
    return err(wrong("listen_missing", "--tls-cert and --tls-key belong to --listen.", "--listen 0.0.0.0:7443"));
  const [, bracketed, bare, port = String(PORT)] =
    /^(?:\[([0-9a-fA-F:]+)\]|([0-9.]+))(?::([0-9]{1,5}))?$/u.exec(listen) ?? [];
  const host = bracketed ?? bare ?? "";
  if (isIP(host) === 0 || Number(port) > 65_535)
    return err(wrong("host_invalid", `"${listen}" is not an IP address with a port.`, "--listen 192.168.1.5:7443"));
  if (tlsCert === undefined || tlsKey === undefined)
    return err(
      wrong(
        "certificate_missing",
        "Other machines reach the daemon only encrypted: --listen needs --tls-cert and --tls-key.",
        "A proxy with TLS in front of the loopback port does it too: set public_url to its address.",
      ),
    );
  const tls = { cert: pathOf(tlsCert), key: pathOf(tlsKey) };
  const certificate = readCertificate(tls);
  return certificate.ok
    ? ok({ host, port: Number(port), tls: { ...tls, certificate: certificate.value } })
    : certificate;
}

function wrong(code: string, message: string, hint: string): Problem {
  return { code, message, hint };
}
