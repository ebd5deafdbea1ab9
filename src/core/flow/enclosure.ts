// How the processes of an attempt without a sandbox are held together, so that all of them end with it. An enclosure does not limit what a
// program may do; a sandbox does.

export const ENCLOSURES = ["cgroup", "scope", "namespace", "markers"] as const;

/**
 * `cgroup`: a control group of the kernel. `scope`: one that systemd makes for the user. `namespace`: a PID namespace. `markers`: the
 * process group, the session, the descendants, and a variable of the environment; a program that wants to can escape.
 */
export type Enclosure = (typeof ENCLOSURES)[number];

/** `auto`: the first that works here. */
export const ENCLOSURE_CHOICES = ["auto", ...ENCLOSURES] as const;
export type EnclosureChoice = (typeof ENCLOSURE_CHOICES)[number];

export function enclosureOf(value: unknown): Enclosure | null {
  return ENCLOSURES.find((known) => known === value) ?? null;
}
