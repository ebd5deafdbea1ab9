// The machine's files that are visible inside, read-only: programs, libraries, certificates, names. From /etc only the files that programs
// cannot do without, because services keep their passwords in the rest.

import { existsSync, lstatSync, readlinkSync, type Stats } from "node:fs";
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

/** Thirty looks before each start: one after the other through the pool of threads they took more than a millisecond. */
export function systemMounts(): readonly Mount[] {
  const mounts: Mount[] = [];
  for (const path of [...FOLDERS, ...ETC.map((name) => `/etc/${name}`)]) {
    const found = lookAt(path);
    if (found === undefined) continue;
    // /bin is a link to usr/bin on most machines, and stays one.
    if (found.isSymbolicLink() && !path.startsWith("/etc/")) {
      mounts.push({ kind: "link", source: readlinkSync(path), target: path });
    } else if (!found.isSymbolicLink() || existsSync(path)) {
      // A link in /etc may lead nowhere, such as resolv.conf on a machine without a network.
      mounts.push({ kind: "read", source: path, target: path });
    }
  }
  return mounts;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
