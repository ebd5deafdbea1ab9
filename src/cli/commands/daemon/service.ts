// `service install`: writes or prints the file with which systemd or launchd starts the daemon at login. Starts nothing itself.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type ServiceKind, serviceFile } from "../../../daemon/service-file.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export type ServiceOptions = { readonly print: boolean; readonly force: boolean; readonly kind?: ServiceKind };

/** The daemon finds agents on the PATH and their logins in the home folder; a supervisor knows neither. */
const PASSED = ["PATH", "HOME", "LANG", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

export async function serviceInstall(io: Io, options: ServiceOptions): Promise<number> {
  requireOperator(io, "service install");
  const kind = options.kind ?? (process.platform === "darwin" ? "launchd" : "systemd");
  const [, program = ""] = process.argv;
  const text = serviceFile(kind, {
    command: [process.execPath, resolve(program), "--home", io.home, "--cwd", io.cwd, "up", "--quietly"],
    cwd: io.cwd,
    environment: Object.fromEntries(
      PASSED.flatMap((name) => {
        const value = io.environment[name];
        return value === undefined || value === "" ? [] : [[name, value]];
      }),
    ),
  });
  const file = fileOf(kind, io);
  if (options.print) {
    if (io.json) printJson(io, { kind, file, text });
    else io.out(text.trimEnd());
    return EXIT.ok;
  }
  if (existsSync(file) && !options.force)
    throw new CliError("service_exists", `${file} exists already.`, "--force replaces it, --print shows the new one");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
  const next =
    kind === "systemd"
      ? [
          "systemctl --user daemon-reload",
          "systemctl --user enable --now passrail",
          "loginctl enable-linger   (to keep it after logout)",
        ]
      : [`launchctl bootstrap gui/${process.getuid?.() ?? "$UID"} ${file}`];
  if (io.json) printJson(io, { kind, file, next });
  else {
    io.out(plainText(`Written: ${file}`));
    if (!io.quiet) for (const line of next) io.err(plainText(`Next: ${line}`));
  }
  return EXIT.ok;
}

function fileOf(kind: ServiceKind, { environment }: Io): string {
  const home = environment["HOME"] ?? homedir();
  if (kind === "launchd") return join(home, "Library", "LaunchAgents", "dev.passrail.daemon.plist");
  return join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "systemd", "user", "passrail.service");
}
