// Which variables pass into a sandbox that has its own programs. It has these itself, or they would name paths that do not exist there.

const OF_THE_MACHINE = new Set(["PATH", "HOME", "SHELL", "TMPDIR", "USER", "LOGNAME", "PWD", "OLDPWD"]);

export function variablesInside(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(env).filter((name) => !OF_THE_MACHINE.has(name) && /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name));
}
