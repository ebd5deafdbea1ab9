// The file by which the system's supervisor starts the daemon at login: a systemd user unit or a macOS launch agent. This module only makes
// the text. Quoting is the hard part: a path may hold spaces, quotes, percent signs and dollars.

export type Service = {
  /** Program and arguments, absolute. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The environment variables that the daemon and its agents need. */
  readonly environment: Readonly<Record<string, string>>;
};

export type ServiceKind = "systemd" | "launchd";

export function serviceFile(kind: ServiceKind, service: Service): string {
  return kind === "systemd" ? systemdUnit(service) : launchAgent(service);
}

function systemdUnit({ command, cwd, environment }: Service): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`,
  );
  return `[Unit]
Description=Passrail: runs coding agents as a pipeline
After=network-online.target

[Service]
Type=exec
ExecStart=${command.map((word) => systemdWord(word, true)).join(" ")}
WorkingDirectory=${cwd.replaceAll("%", "%%")}
${variables.join("\n")}${variables.length === 0 ? "" : "\n"}# Only the daemon: agents work on when it stops or restarts, and the next one adopts them.
KillMode=process
# The cgroup of the service is the daemon's to divide: each agent gets one of its own.
Delegate=yes
TimeoutStopSec=60
Restart=on-failure
RestartSec=5
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** In double quotes, with systemd's special characters escaped; in a command a dollar begins a variable too. */
function systemdWord(text: string, isCommand: boolean = false): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%");
  return `"${isCommand ? escaped.replaceAll("$", () => "$$") : escaped}"`;
}

function launchAgent({ command, cwd, environment }: Service): string {
  const words = command.map((word) => `    <string>${xml(word)}</string>`).join("\n");
  const variables = Object.entries(environment)
    .map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>`)
    .join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>dev.passrail.daemon</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(cwd)}</string>
  <key>EnvironmentVariables</key>
  <dict>
${variables}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
