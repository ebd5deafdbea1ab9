// How an agent's program is pointed at a gateway: which vendors it would ask, with which keys, and what it is started with instead. The
// gateway adds the keys, so the program gets none of them.

export type Variables = Readonly<Record<string, string>>;

/** Where requests of one kind go. */
export type ModelRoute = {
  /** The first part of their path at the gateway. */
  readonly name: string;
  /** The vendor's own address, without a slash at its end. */
  readonly upstream: string;
  /** They hold the key. Headers of these names that the program sends are dropped. */
  readonly headers: Variables;
};

/** How a program would be started. */
export type Startable = { readonly argv: readonly [string, ...string[]]; readonly environment: Variables };

/** `url`: without a slash at its end. The token is worth something at this gateway alone, while the attempt lasts. */
export type GatewayAddress = { readonly url: string; readonly token: string };

export type ModelRouting =
  | {
      readonly type: "routed";
      readonly routes: readonly ModelRoute[];
      /** The same program, without its keys. */
      readonly point: (at: GatewayAddress) => Startable;
    }
  /** It logs in by itself; completes the sentence "claude does not go through the gateway: …". */
  | { readonly type: "bypassed"; readonly why: string };

/** The variable with the token, for programs that are told which one holds their key. Codex hides such a name from the agent's shell. */
export const TOKEN_VARIABLE = "PASSRAIL_GATEWAY_TOKEN";

export function without(environment: Variables, names: readonly string[]): Variables {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

/** The address of a vendor as a user wrote it; null where it is none. */
export function upstreamOf(written: string): string | null {
  const url = written.length > 2000 ? null : URL.parse(written);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return null;
  return `${url.origin}${url.pathname.replace(/\/+$/u, "")}`;
}

export const NO_KEY = "it uses a login of its own, and no API key";
export const ODD_ADDRESS = "the address of its vendor cannot be read";
