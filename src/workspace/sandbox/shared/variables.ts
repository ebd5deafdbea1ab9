// Which variables go along into a sandbox with programs of its own. It has these itself, or they would lead to places that are not there.

const OF_THE_MACHINE = new Set(["PATH", "HOME", "SHELL", "TMPDIR", "USER", "LOGNAME", "PWD", "OLDPWD"]);

export function variablesInside(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(env).filter((name) => !OF_THE_MACHINE.has(name) && /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name));
}
