// Registers `sandbox list|test|build`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, choice, flag, text, type TypedFlags } from "../../options.ts";

export function addSandbox(program: Command, { call, version }: CommandContext): void {
  const sandbox = program.command("sandbox").description("what confines agents on this machine");
  sandbox
    .command("list")
    .description("list the kinds of sandboxes: which can be started here, and what the others need")
    .action(() => call(async (io) => (await import("./sandbox.ts")).sandboxList(io)));
  sandbox
    .command("test")
    .description(
      "start a program in a sandbox, in a repository made for it; without a kind in each that can be started",
    )
    .argument("[kind]", "bubblewrap, podman, docker or daytona")
    .action((kind: string | undefined) => call(async (io) => (await import("./sandbox.ts")).sandboxTest(io, kind)));
  const build = sandbox.command("build").description("build a container image with git and the four agent CLIs");
  const read = addOptions(build, {
    engine: choice("--engine <engine>", "the program that builds it; default: podman, or docker", ["podman", "docker"]),
    from: text("--from <image>", "the image to begin with; it needs apt-get, Node and npm"),
    devcontainer: flag("--devcontainer", "begin with the image of the project's devcontainer.json"),
    tag: text("--tag <name>", "the name of the image; default: passrail-agents and this version"),
    file: text("--file <path>", "build this Containerfile instead of Passrail's"),
  });
  build.action((typed: TypedFlags) =>
    call(async (io) => (await import("./build-image.ts")).sandboxBuild(io, read(typed), version)),
  );
}
