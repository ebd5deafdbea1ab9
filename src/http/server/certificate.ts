// The certificate of a listener that other machines reach. A renewed one is taken without a restart; one that cannot be read is reported,
// and the old one stays.

import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { messageOf, err, ok, type Result } from "../../core/result.ts";

export type TlsFiles = { readonly cert: string; readonly key: string };

export type Certificate = {
  readonly pair: Required<Pick<SecureContextOptions, "cert" | "key">>;
  /** The names and addresses that it is made for, without patterns. */
  readonly names: readonly string[];
};

export function readCertificate({ cert, key }: TlsFiles): Result<Certificate> {
  try {
    const pair = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext(pair);
    const found = new X509Certificate(pair.cert);
    if (Date.parse(found.validTo) <= Date.now())
      return err({ code: "certificate_invalid", message: `The certificate in ${cert} ended on ${found.validTo}.` });
    return ok({ pair, names: namesIn(found.subjectAltName ?? "") });
  } catch (error) {
    return err({
      code: "certificate_invalid",
      message: `The certificate in ${cert} and the key in ${key} cannot be used: ${messageOf(error)}.`,
      hint: "--tls-cert and --tls-key name PEM files that belong together",
    });
  }
}

function namesIn(subjectAltName: string): readonly string[] {
  return subjectAltName.split(", ").flatMap((entry) => {
    const [, kind, name = ""] = /^(DNS|IP Address):([A-Za-z0-9.:-]+)$/u.exec(entry) ?? [];
    if (kind === undefined) return [];
    // As a browser spells it.
    const spelled = `https://${name.includes(":") ? `[${name}]` : name}`;
    return URL.canParse(spelled) ? [new URL(spelled).hostname] : [];
  });
}

const LOOK_MS = 60_000;

/** Calls `take` with each new certificate; returns how to stop looking. */
export function watchCertificate(
  files: TlsFiles,
  take: (certificate: Certificate) => void,
  onProblem: (text: string) => void,
  lookMs = LOOK_MS,
): () => void {
  let seen = stampOf(files);
  const timer = setInterval(() => {
    const now = stampOf(files);
    if (now === seen) return;
    seen = now;
    const read = readCertificate(files);
    if (read.ok) take(read.value);
    else onProblem(`${read.error.message} The earlier one stays.`);
  }, lookMs).unref();
  return () => clearInterval(timer);
}

function stampOf({ cert, key }: TlsFiles): string {
  return [cert, key].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
}
