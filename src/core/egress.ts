// The hosts that agents may reach through the gateway, as settings name them: names, names with a port, everything below a name, and the
// groups that most projects need.

const REGISTRIES: Readonly<Record<string, readonly string[]>> = {
  npm: ["registry.npmjs.org"],
  pypi: ["pypi.org", "files.pythonhosted.org"],
  crates: ["crates.io", "index.crates.io", "static.crates.io"],
  go: ["proxy.golang.org", "sum.golang.org"],
  rubygems: ["rubygems.org", "index.rubygems.org"],
};

/** Group -> its hosts. */
export const EGRESS_GROUPS: Readonly<Record<string, readonly string[]>> = {
  ...REGISTRIES,
  registry: Object.values(REGISTRIES).flat(),
  github: [
    "github.com",
    "api.github.com",
    "codeload.github.com",
    "objects.githubusercontent.com",
    "raw.githubusercontent.com",
  ],
};

const NAME =
  /^(?:\*\.)?(?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[0-9]{1,5})?$/u;
/** The last part of an address; no name ends so. */
const ENDS_AS_ADDRESS = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)(?::[0-9]{1,5})?$/u;

/** Whether it is a host that a setting may name. */
export function isEgressHost(text: string): boolean {
  return NAME.test(text) && !ENDS_AS_ADDRESS.test(text);
}
