// `sandbox build`: an image for docker or podman with git and the agent CLIs, built on this machine by its own engine.

import { spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { devcontainerImage, IMAGE_NAME } from "../../../core/setup/devcontainer.ts";
import { readConfined } from "../../../file/confined.ts";
import { shippedDir } from "../../../settings/site.ts";
import { findOnPath } from "../../../workspace/sandbox/shared/find-on-path.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";

export type BuildFlags = {
  readonly engine?: "podman" | "docker";
  readonly from?: string;
  readonly devcontainer: boolean;
  readonly tag?: string;
  readonly file?: string;
};

const CONTAINERFILE = join(shippedDir, "deploy", "agents.Containerfile");
const DEVCONTAINERS = [".devcontainer/devcontainer.json", ".devcontainer.json"];
const DEVCONTAINER_BYTES = 256 * 1024;

export async function sandboxBuild(io: Io, flags: BuildFlags, version: string): Promise<number> {
  requireOperator(io, "sandbox build");
  const { engine, client } = findEngine(io, flags.engine);
  const tag = imageName(flags.tag ?? `passrail-agents:${version}`);
  const base = baseOf(io, flags);
  const file = flags.file === undefined ? CONTAINERFILE : resolve(io.cwd, flags.file);
  const begin = base === undefined ? [] : ["--build-arg", `BASE=${base}`];
  const code = await build(io, client, ["build", "--tag", tag, ...begin, "--file", file, dirname(file)]);
  if (code !== 0) {
    const hint = "What it printed above says why. The network must reach the image's sources.";
    throw new CliError("image_not_built", `${engine} ended with code ${code}; there is no image ${tag}.`, hint);
  }
  if (io.json) printJson(io, { image: tag, engine });
  else if (io.quiet) io.out(tag);
  else {
    io.out(`Built ${tag}. To use it, write into passrail.yaml:`);
    io.out(`\nworkspaces:\n  sandbox: ${engine}\n  docker:\n    image: ${tag}\n`);
    io.out("passrail sandbox test   starts it once.");
  }
  return EXIT.ok;
}

function findEngine({ environment }: Io, chosen: BuildFlags["engine"] | undefined) {
  const engines = chosen === undefined ? (["podman", "docker"] as const) : [chosen];
  for (const engine of engines) {
    const client = findOnPath(environment["PATH"] ?? "", engine);
    if (client !== undefined) return { engine, client };
  }
  const what = `No program called ${engines.join(" or ")} was found on the PATH.`;
  throw new CliError("engine_missing", what, "Install podman, or docker.");
}

function imageName(name: string): string {
  if (!IMAGE_NAME.test(name)) throw usageError("image_name", `"${name}" is no name for an image.`);
  return name;
}

/** The image to begin with; undefined: the Containerfile's own. */
function baseOf({ cwd }: Io, { from, devcontainer }: BuildFlags): string | undefined {
  if (from !== undefined && devcontainer) throw usageError("flag_conflict", "Give --from or --devcontainer, not both.");
  if (from !== undefined) return imageName(from);
  if (!devcontainer) return undefined;
  for (const path of DEVCONTAINERS) {
    const read = readConfined(cwd, join(cwd, path), DEVCONTAINER_BYTES);
    if (!read.ok) throw problemError(read.error);
    if (read.value === undefined) continue;
    const image = devcontainerImage(read.value);
    if (!image.ok) throw problemError(image.error);
    return image.value;
  }
  throw new CliError("devcontainer_missing", `${cwd} has no ${DEVCONTAINERS.join(" or ")}.`, "Name an image: --from");
}

/** The engine's output goes to stderr: with --json, stdout is for the answer. */
function build({ environment, cwd }: Io, client: string, args: readonly string[]): Promise<number> {
  const child = spawn(client, args, { cwd, env: { ...environment }, stdio: ["ignore", 2, 2] });
  return new Promise((done, failed) => {
    child.once("error", failed).once("exit", (code) => done(code ?? 1));
  });
}
