// The addresses of our workers. Trusted Types let only a named policy make them, and only this file has it.

type Policy = { createScriptURL(url: string): string };
type Policies = { createPolicy(name: string, rules: Policy): Policy };

let policy: Policy | undefined;

/** `address`: of a file that the build made. */
export function scriptAddress(address: string): string {
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  if (policies === undefined) return ours(address);
  policy ??= policies.createPolicy("passrail", { createScriptURL: ours });
  return policy.createScriptURL(address);
}

function ours(address: string): string {
  if (!/^\/assets\/[\w.-]+\.js$/u.test(address)) throw new Error(`not a script of the dashboard: ${address}`);
  return address;
}
