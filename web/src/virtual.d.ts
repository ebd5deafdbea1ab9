// Modules that the build makes (vite.config.ts).

declare module "virtual:passrail-addresses" {
  import type { RouteAddress } from "../../src/http/client/address.ts";
  import type { RouteName } from "../../src/http/contract/routes.ts";
  const addresses: Readonly<Record<RouteName, RouteAddress>>;
  export default addresses;
}
