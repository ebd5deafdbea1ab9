// Names of hosts in a list: exact, with a port, or everything below one. Groups stand for several.

import { EGRESS_GROUPS } from "../core/egress.ts";

export type HostRule = { readonly name: string; readonly below: boolean; readonly ports: readonly number[] };

/** Without a port in the rule: those of the web. */
const WEB = [80, 443];

export function hostsOf(written: readonly string[]): readonly HostRule[] {
  const names = written.flatMap((each) => (Object.hasOwn(EGRESS_GROUPS, each) ? (EGRESS_GROUPS[each] ?? []) : [each]));
  return names.map((each) => {
    const [host = "", port] = each.toLowerCase().split(":", 2);
    const below = host.startsWith("*.");
    return { name: below ? host.slice(2) : host, below, ports: port === undefined ? WEB : [Number(port)] };
  });
}

export function isListed(rules: readonly HostRule[], host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/u, "");
  return rules.some(
    (rule) => rule.ports.includes(port) && (rule.below ? name.endsWith(`.${rule.name}`) : name === rule.name),
  );
}
