// Workspaces in docker or podman containers: a clone, shown inside at the same path. A container does not end with its client, so each
// carries the workspace's name, and Passrail ends it before the next one, before the clone is closed, and after a crash. A note says from before a
// container starts until its end is certain that there may be one: without it the engine need not be asked, which takes longer than a start.

import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { optional } from "../../../core/optional.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { bridgedNetwork, entering } from "../bridge/can-bridge.ts";
import { type Clones, createConfinedWorkspaces } from "../shared/confined.ts";
import { existing } from "../shared/existing.ts";
import { findOnPath } from "../shared/find-on-path.ts";
import { openPrivate, PRIVATE_HOME, PRIVATE_TMP } from "../shared/private-folder.ts";
import { unavailable } from "../shared/unavailable.ts";
import type { GitWorkspaces } from "../../git-workspaces.ts";
import type { Launch } from "../../workspace.ts";
import { type ContainerSettings, containerArguments, type EngineName } from "./arguments.ts";
import { besideContainer, type WayToPassrail } from "./attended.ts";
import { clientEnvironment, engineFinder, removeContainers } from "./engine.ts";
import { makeGateFolder } from "./gate.ts";

export type ContainerOptions = Clones & {
  readonly engine: EngineName;
  /** Undefined if not configured: then there is no image. */
  readonly settings: ContainerSettings | undefined;
  readonly caches: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The program beside the container: it ends the container with the attempt. */
const ATTEND = fileURLToPath(new URL(`./attend${extname(import.meta.url)}`, import.meta.url));

export function createContainerWorkspaces(options: ContainerOptions): GitWorkspaces {
  const { engine, environment, home } = options;
  const find = engineFinder(engine, options.settings, environment);
  const store = createHash("sha256").update(home).digest("hex").slice(0, 12);
  const labelOf = (name: string): string => `passrail.workspace=${store}-${name}`;
  return createConfinedWorkspaces(options, {
    ownPrograms: true,
    holds: ["memoryBytes", "processes", "cpus", "diskBytes"],
    ownNetwork:
      options.settings?.network === "host"
        ? undefined
        : bridgedNetwork(environment["PATH"] ?? "", whyApart(engine, environment)),

    async check() {
      const found = await find();
      return found.ok ? ok(null) : found;
    },

    async end({ name, own }, why) {
      if (why === "close" && !existsSync(noteIn(own))) return ok(null);
      // Settings may have changed since; without the client there was never a container.
      const client = findOnPath(environment["PATH"] ?? "", engine);
      return client === undefined ? ok(null) : removeContainers(engine, client, environment, labelOf(name));
    },

    async confine({ top, own, name }, launch) {
      const found = await find();
      if (!found.ok) return found;
      const note = noteIn(own);
      if (existsSync(note)) {
        const ended = await removeContainers(engine, found.value.client, environment, labelOf(name));
        if (!ended.ok) return ended;
      }
      const user = { uid: process.getuid?.(), gid: process.getgid?.() };
      if (user.uid === undefined || user.gid === undefined) {
        return err(unavailable(engine, "this system has no users by number.", "Use Linux, macOS or WSL"));
      }
      const privates = await privatesOf(own, launch);
      if (!privates.ok) return privates;
      const way = await wayTo(engine, environment["PATH"] ?? "", own, launch);
      if (!way.ok) return way;
      const { gate, begun } = way.value ?? {};
      const container = `passrail-${store}-${name}-${randomBytes(4).toString("hex")}`;
      const args = containerArguments({
        engine,
        settings: found.value.settings,
        name: container,
        labels: [`passrail.store=${store}`, labelOf(name)],
        user: { uid: user.uid, gid: user.gid },
        numbering: found.value.numbering,
        folders: [
          ...new Set([
            top,
            ...(await existing(options.caches)),
            ...launch.folders,
            ...(gate === undefined ? [] : [gate]),
          ]),
        ],
        reads: launch.reads ?? [],
        ...privates.value,
        launch,
        ...optional({ gate }),
      });
      if (!args.ok) return args;
      await writeFile(note, container, { mode: 0o600 });
      const attended = { client: found.value.client, container, note, way: way.value };
      return ok({
        ...launch,
        argv: besideContainer(ATTEND, attended, args.value),
        env: { ...launch.env, ...clientEnvironment(environment) },
        ...optional({ begun }),
        // Nothing else can be written but what is shared with others.
        filled: [top, own, ...launch.folders.filter((path) => !options.caches.includes(path))],
      });
    },
  });
}

const noteIn = (own: string): string => join(own, "container");

/** `tmp`: only where the disk is limited. Then the image itself cannot be written, so that all that fills the disk is in known folders. */
async function privatesOf(
  own: string,
  { resources }: Launch,
): Promise<Result<{ readonly home: string; readonly tmp?: string }>> {
  const home = await openPrivate(own, PRIVATE_HOME);
  if (!home.ok) return home;
  if (resources?.diskBytes === undefined) return ok({ home: home.value });
  const tmp = await openPrivate(own, PRIVATE_TMP);
  return tmp.ok ? ok({ home: home.value, tmp: tmp.value }) : tmp;
}

/** Prepares the way that the program needs, if it needs one. */
async function wayTo(
  engine: EngineName,
  path: string,
  own: string,
  { ports = [] }: Launch,
): Promise<Result<WayToPassrail | null>> {
  const begun = join(own, "begun");
  await rm(begun, { force: true });
  if (ports.length === 0) return ok(null);
  const nsenter = entering(path, engine);
  if (!nsenter.ok) return nsenter;
  const mkfifo = findOnPath(path, "mkfifo");
  if (mkfifo === undefined)
    return err(unavailable(engine, "the program mkfifo was not found on the PATH.", "Install coreutils"));
  const gate = join(own, "gate");
  makeGateFolder(gate);
  return ok({ ports, nsenter: nsenter.value, mkfifo, gate, begun });
}

/** Why nobody can enter the network of this engine's containers from here; null: it can be tried. */
function whyApart(engine: EngineName, environment: ContainerOptions["environment"]): string | null {
  const elsewhere = /^(?:tcp|ssh|https?|npipe):/u;
  const host = environment[engine === "docker" ? "DOCKER_HOST" : "CONTAINER_HOST"] ?? "";
  if (elsewhere.test(host)) return `${engine} starts its sandbox on another machine`;
  if (engine === "docker" && process.getuid?.() !== 0)
    return "only root can enter the network of a container of docker; podman's belongs to you";
  return null;
}
