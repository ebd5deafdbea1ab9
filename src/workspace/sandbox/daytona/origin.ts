// The address from which a machine without any login can fetch a project, if there is one: that of its remote, without ssh, keys and passwords.

/** Hosts that show public repositories at the same path by https. */
const PUBLIC = new Set(["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"]);

/** Undefined for paths, other hosts by ssh, and addresses that hold a secret. */
export function publicOrigin(written: string): string | undefined {
  const [, host = "", path = ""] = /^(?:ssh:\/\/)?git@([\w.-]+)(?::22)?[:/]([\w./-]+)$/u.exec(written) ?? [];
  if (PUBLIC.has(host)) return `https://${host}/${path}`;
  const url = URL.parse(written);
  if (url === null || !["https:", "http:", "git:"].includes(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined;
  return url.href;
}
