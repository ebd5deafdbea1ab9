// Calls to the container engine: whether it answers, and the removal of containers without a client.

import { execFile } from "node:child_process";
import { err, ok, type Result } from "../../../core/result.ts";
import { findOnPath } from "../shared/find-on-path.ts";
import { unavailable } from "../shared/unavailable.ts";
import type { ContainerSettings, EngineName, Numbering } from "./arguments.ts";
import { removal } from "./removal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const ANSWER_MS = 20_000;
const REMOVE_MS = 60_000;

/** The variables that the client itself needs to find its engine. */
const OF_THE_CLIENT =
  /^(?:PATH|HOME|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|XDG_DATA_HOME|SSH_AUTH_SOCK|DOCKER_.*|CONTAINERS?_.*)$/u;

export function clientEnvironment(environment: Environment): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).filter(
    ([name, value]) => value !== undefined && OF_THE_CLIENT.test(name),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

export type FoundEngine = {
  /** The absolute path of the client. */
  readonly client: string;
  readonly settings: ContainerSettings;
  readonly numbering: Numbering;
};

/** The engine, if it answers and has the image. Only a yes is cached. */
export function engineFinder(
  engine: EngineName,
  settings: ContainerSettings | undefined,
  environment: Environment,
): () => Promise<Result<FoundEngine>> {
  let found: FoundEngine | undefined;
  const no = (what: string, hint: string) => err(unavailable(engine, what, hint));
  return async () => {
    if (found !== undefined) return ok(found);
    if (settings === undefined) {
      return no(
        "no image is set.",
        "Set workspaces: { docker: { image: … } } to an image with git and your agent in it; passrail sandbox build makes one",
      );
    }
    const { image } = settings;
    // An image with a leading dash would be an option.
    if (!/^[A-Za-z0-9][\w./:@-]*$/u.test(image))
      return no(`${JSON.stringify(image)} is no image.`, "Change workspaces.docker.image");
    const client = findOnPath(environment["PATH"] ?? "", engine);
    if (client === undefined) {
      return no(
        `the program ${engine} was not found on the PATH.`,
        `Install ${engine}, or choose workspaces.sandbox: bubblewrap`,
      );
    }
    const env = clientEnvironment(environment);
    const answers = await call(client, ["version", "--format", "{{.Server.Version}}"], env, ANSWER_MS);
    if (!answers.ok) return no(`its engine does not answer: ${answers.error}`, `Start it, and try: ${engine} version`);
    const has = await call(client, ["image", "inspect", "--format", "{{.Id}}", image], env, ANSWER_MS);
    if (!has.ok) return no(`the image ${image} is not on this machine.`, `Fetch it: ${engine} pull ${image}`);
    const numbering = engine === "docker" ? await numberingOf(client, env) : ok("machine" as const);
    if (!numbering.ok) return no(`its engine does not say how it runs: ${numbering.error}`, "Try: docker info");
    found = { client, settings, numbering: numbering.value };
    return ok(found);
  };
}

async function numberingOf(client: string, env: Readonly<Record<string, string>>): Promise<Result<Numbering, string>> {
  const asked = await call(client, ["info", "--format", "{{json .SecurityOptions}}"], env, ANSWER_MS);
  if (!asked.ok) return asked;
  if (asked.value.includes("name=rootless")) return ok("rootless");
  return ok(asked.value.includes("name=userns") ? "remapped" : "machine");
}

/** Ends and removes every container with this label. Idempotent. */
export async function removeContainers(
  engine: EngineName,
  client: string,
  environment: Environment,
  label: string,
): Promise<Result<null>> {
  const env = clientEnvironment(environment);
  const listed = await call(
    client,
    ["ps", "--all", "--quiet", "--no-trunc", `--filter=label=${label}`],
    env,
    ANSWER_MS,
  );
  const hint = `Look at it: ${engine} ps --all --filter label=${label}`;
  if (!listed.ok) return err(unavailable(engine, `its containers could not be listed: ${listed.error}`, hint));
  const ids = listed.value.split("\n").filter((id) => /^[0-9a-zA-Z][\w.-]*$/u.test(id));
  if (ids.length === 0) return ok(null);
  const removed = await call(client, [...removal(client), ...ids], env, REMOVE_MS);
  return removed.ok ? ok(null) : err(unavailable(engine, `a container could not be ended: ${removed.error}`, hint));
}

function call(
  client: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeout: number,
): Promise<Result<string, string>> {
  return new Promise((resolve) => {
    execFile(
      client,
      args,
      { env, timeout, killSignal: "SIGKILL", maxBuffer: 4 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) return resolve(ok(stdout));
        const said = stderr.trim().split("\n").at(-1) ?? "";
        resolve(err((said === "" ? error.message : said).slice(0, 300)));
      },
    );
  });
}
