// Where the daemon listens: on loopback, unless the user explicitly asks for another address.

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { err, ok, type Problem, type Result } from "../core/result.ts";

export type ListenAddress = { readonly host: string; readonly port: number; readonly hosts: readonly string[] };

export type AddressWish = {
  readonly port: string;
  readonly host: string;
  /** `--dangerously-bind`: the address may be reachable from the network. */
  readonly open: boolean;
  /** Further names of this daemon, as a browser or client spells them: name:port. */
  readonly allow: readonly string[];
};

export function readAddress({ port, host, open, allow }: AddressWish): Result<ListenAddress> {
  if (!/^(0|[1-9][0-9]{0,4})$/u.test(port) || Number(port) > 65_535)
    return err(wrong("port_invalid", `"${port}" is not a port.`, "0 to 65535; 0 takes any that is free"));
  const address = host === "localhost" ? "127.0.0.1" : host;
  if (isIP(address) === 0) return err(wrong("host_invalid", `"${host}" is not an IP address.`, "--host 127.0.0.1"));
  if (ipaddr.parse(address).range() !== "loopback" && !open)
    return err(
      wrong(
        "host_not_loopback",
        `${host} can be reached by other machines.`,
        "Leave --host out, or add --dangerously-bind if that is what you want: traffic is not encrypted.",
      ),
    );
  for (const name of allow) {
    if (!/^[a-z0-9.-]{1,200}(:[0-9]{1,5})?$/u.test(name))
      return err(wrong("host_invalid", `"${name}" is no name that a Host header can hold.`, "--allow-host box:7377"));
  }
  return ok({ host: address, port: Number(port), hosts: allow });
}

function wrong(code: string, message: string, hint: string): Problem {
  return { code, message, hint };
}
