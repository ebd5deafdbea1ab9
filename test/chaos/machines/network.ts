// A worker in a network namespace of its own: the kernel's own wire between two machines. A link that is down loses packets without a word,
// in both directions, and the nodes are reached over TLS, as on a network. Needs root; without it cut-wire.ts plays the wire.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { makeCertificate } from "../../harness/certificate.ts";
import type { CutWire } from "./cut-wire.ts";

const FIRST_PORT = 7443;

/** `folder`: for the certificate of the nodes. Undefined where this user may make no namespace. */
export function openNetwork(folder: string, nodes: number): CutWire | undefined {
  const id = randomBytes(3);
  const name = `prc-${id.toString("hex")}`;
  // Four addresses of 10.128.0.0/9: one is the host's, one the worker's.
  const block = `10.${128 + ((id[0] ?? 0) % 128)}.${id[1] ?? 0}`;
  const last = (id[2] ?? 0) & 0xfc;
  const [here, there] = [`${block}.${last + 1}`, `${block}.${last + 2}`];
  const [outside, inside] = [`${name}o`, `${name}i`];
  const close = (): void => {
    for (const args of [
      ["link", "delete", outside],
      ["netns", "delete", name],
    ])
      attempt(args);
  };
  const isMade = [
    ["netns", "add", name],
    ["link", "add", outside, "type", "veth", "peer", "name", inside],
    ["link", "set", inside, "netns", name],
    ["address", "add", `${here}/30`, "dev", outside],
    ["link", "set", outside, "up"],
    ["-n", name, "address", "add", `${there}/30`, "dev", inside],
    ["-n", name, "link", "set", inside, "up"],
    ["-n", name, "link", "set", "lo", "up"],
  ].every(attempt);
  if (!isMade) {
    close();
    return undefined;
  }
  const { cert, key } = makeCertificate(folder, `IP:${here}`);
  const addresses = Array.from({ length: nodes }, (_, at) => `${here}:${FIRST_PORT + at}`);
  return {
    isNetwork: true,
    urls: addresses.map((address) => `https://${address}`),
    node: (at) => ({ args: ["--listen", addresses[at] ?? "", "--tls-cert", cert, "--tls-key", key], settings: {} }),
    worker: { argv: ["ip", "netns", "exec", name], env: { NODE_EXTRA_CA_CERTS: cert } },
    cut: () => void attempt(["link", "set", outside, "down"]),
    mend: () => void attempt(["link", "set", outside, "up"]),
    close,
  };
}

function attempt(args: readonly string[]): boolean {
  try {
    execFileSync("ip", args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
