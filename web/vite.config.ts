// Builds the dashboard into the package. No inline script, no inline style, no data URLs for code: the daemon's policy allows none.

import { join } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { addressesOf } from "../src/http/client/address.ts";
import { ROUTES } from "../src/http/contract/routes.ts";

const ADDRESSES = "virtual:passrail-addresses";

/** The addresses of all routes as a module: the contract's own table would bring every schema into the browser. */
function routeAddresses(): Plugin {
  return {
    name: "passrail-addresses",
    resolveId: (id) => (id === ADDRESSES ? `\0${ADDRESSES}` : undefined),
    load: (id) => (id === `\0${ADDRESSES}` ? `export default ${JSON.stringify(addressesOf(ROUTES))};` : undefined),
  };
}

/** The files that pages load when they are opened; base/prefetch.ts reads the list. Workers are no modules of the page. */
function listParts(): Plugin {
  return {
    name: "passrail-parts",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle).filter((each) => each.type === "chunk" && !each.isEntry);
      const source = JSON.stringify(parts.map(({ fileName }) => fileName));
      this.emitFile({ type: "asset", fileName: "parts.json", source });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  plugins: [routeAddresses(), listParts(), react(), tailwindcss()],
  resolve: {
    alias: {
      // For browsers it reads entities (&amp;) by writing to innerHTML, which the policy refuses: a page with one would be gone.
      "decode-named-character-reference": join(
        import.meta.dirname,
        "../node_modules/decode-named-character-reference/index.js",
      ),
    },
  },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es", plugins: () => [routeAddresses()] },
});
