// The machine's files that are visible inside, read-only: programs, libraries, certificates, names. From /etc only the files that programs
// cannot do without, because services keep their passwords in the rest.

import { access, lstat, readlink } from "node:fs/promises";
import type { Mount } from "./mount.ts";

const FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

const ETC = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "fonts",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "pki",
  "protocols",
  "resolv.conf",
  "services",
  "ssl/certs",
  "ssl/cert.pem",
  "ssl/openssl.cnf",
  "static",
  "terminfo",
  "timezone",
];

export async function systemMounts(): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const path of [...FOLDERS, ...ETC.map((name) => `/etc/${name}`)]) {
    const found = await lstat(path).catch(() => null);
    if (found === null) continue;
    // /bin is a link to usr/bin on most machines, and stays one.
    if (found.isSymbolicLink() && !path.startsWith("/etc/")) {
      mounts.push({ kind: "link", source: await readlink(path), target: path });
    } else if (!found.isSymbolicLink() || (await exists(path))) {
      mounts.push({ kind: "read", source: path, target: path });
    }
  }
  return mounts;
}

/** A link in /etc may lead nowhere, such as resolv.conf on a machine without a network. */
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
