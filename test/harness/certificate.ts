// A certificate that tests make for themselves.

import { execFileSync } from "node:child_process";
import { join } from "node:path";

const OPENSSL = "openssl";

export type MadeCertificate = { readonly cert: string; readonly key: string };

/** `names`: as openssl writes them, such as `DNS:box.test`. */
export function makeCertificate(folder: string, ...names: readonly string[]): MadeCertificate {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=box.test", "-addext", `subjectAltName=${names.join(",")}`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync(OPENSSL, ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  return { cert, key };
}
