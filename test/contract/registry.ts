// A registry of npm packages on loopback that knows Passrail, as it would be published, and the packages it needs, as they are installed
// here. So a test installs the real package with the real npm, without a network.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ROOT } from "../harness/build-once.ts";

type Manifest = { readonly name: string; readonly version: string };
type Package = { readonly manifest: Manifest; readonly tarball: string };

export type Registry = { readonly url: string; readonly close: () => Promise<void> };

/** What `npm run build` made; it is not made here, because other tests may be using it. */
export function isBuilt(): boolean {
  const built = join(ROOT, "dist/cli/main.js");
  if (!existsSync(built)) return false;
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true });
  const newest = Math.max(
    ...sources.flatMap((entry) => (entry.isFile() ? [statSync(join(entry.parentPath, entry.name)).mtimeMs] : [])),
  );
  return statSync(built).mtimeMs >= newest;
}

export async function startRegistry(dir: string): Promise<Registry> {
  const packages = new Map([ownPackage(dir), ...neededPackages(dir)].map((each) => [each.manifest.name, each]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const file = [...packages.values()].find(({ tarball }) => path === `-/${tarball}`);
    const found = packages.get(path);
    if (file !== undefined) response.end(readFileSync(join(dir, file.tarball)));
    else if (found === undefined) response.writeHead(404).end("{}");
    else response.setHeader("content-type", "application/json").end(JSON.stringify(document(found, urlOf())));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: urlOf(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function document({ manifest, tarball }: Package, url: string): object {
    const integrity = `sha512-${createHash("sha512")
      .update(readFileSync(join(dir, tarball)))
      .digest("base64")}`;
    const published = { ...manifest, dist: { tarball: `${url}/-/${tarball}`, integrity } };
    const { name, version } = manifest;
    return { name, "dist-tags": { latest: version }, versions: { [version]: published } };
  }
}

/** The files that `npm pack` takes. */
function ownPackage(dir: string): Package {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(packed) as [{ files: readonly { path: string }[] }];
  return pack(
    dir,
    ROOT,
    files.map(({ path }) => path),
  );
}

function neededPackages(dir: string): readonly Package[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)
    .filter(([path]) => existsSync(join(ROOT, path, "package.json")))
    .map(([path]) => pack(dir, join(ROOT, path), ["."]));
}

function pack(dir: string, folder: string, names: readonly string[]): Package {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const tarball = `${manifest.name.replace("/", "-").replace("@", "")}-${manifest.version}.tgz`;
  mkdirSync(dir, { recursive: true });
  const list = join(dir, `${tarball}.list`);
  writeFileSync(list, names.join("\n"));
  const rename = names[0] === "." ? "s,^\\.,package," : "s,^,package/,";
  execFileSync("tar", [
    "-C",
    folder,
    "--exclude=./node_modules",
    `--transform=${rename}`,
    "-czf",
    join(dir, tarball),
    "-T",
    list,
  ]);
  return { manifest, tarball };
}
