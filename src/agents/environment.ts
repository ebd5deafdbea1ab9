// The environment of an agent: a short allow-list, what the operator passes by name, and what was declared. Nothing is
// inherited besides, so the daemon's own secrets never reach an agent by accident.

const ALWAYS_PASSED = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TERM",
  "TMPDIR",
  "USER",
  "LOGNAME",
  "SHELL",
  "TZ",
] as const;

/** `pass` names further variables of the parent; `declared` values win over inherited ones. */
export const childEnvironment = (
  parent: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
  pass: readonly string[],
): Record<string, string> => {
  const environment: Record<string, string> = {};
  for (const name of [...ALWAYS_PASSED, ...pass]) {
    const value = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...declared };
};
