// Typed options. A command declares each option once, with its flag, its help text and its type; `addOptions` registers them with
// commander and returns the function that reads what the user typed.

import { type Command, Option } from "commander";

/** The flags as commander passes them to an action. */
export type TypedFlags = Readonly<Record<string, unknown>>;

export type DeclaredOption<T> = { readonly option: Option; readonly read: (value: unknown) => T };
type Declarations = Readonly<Record<string, DeclaredOption<unknown>>>;
type ValueOf<D> = D extends DeclaredOption<infer T> ? T : never;

/** An option that the user did not type is absent, or has its default. */
type OptionValues<D extends Declarations> = {
  readonly [K in keyof D as undefined extends ValueOf<D[K]> ? never : K]: ValueOf<D[K]>;
} & {
  readonly [K in keyof D as undefined extends ValueOf<D[K]> ? K : never]?: Exclude<ValueOf<D[K]>, undefined>;
};

export function addOptions<D extends Declarations>(
  command: Command,
  declared: D,
): (typed: TypedFlags) => OptionValues<D> {
  for (const { option } of Object.values(declared)) command.addOption(option);
  return (typed) =>
    Object.fromEntries(
      Object.entries(declared).flatMap(([name, { option, read }]) => {
        const value = read(typed[option.attributeName()]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as OptionValues<D>;
}

/** `configure` hides the flag, or names the flags that it excludes. */
export function flag(
  flags: string,
  help: string,
  configure: (option: Option) => Option = (option) => option,
): DeclaredOption<boolean> {
  return { option: configure(new Option(flags, help)), read: (value) => value === true };
}

export function text(flags: string, help: string): DeclaredOption<string | undefined> {
  return { option: new Option(flags, help), read: textOf };
}

export function textOr(flags: string, help: string, fallback: string): DeclaredOption<string> {
  return { option: new Option(flags, help).default(fallback), read: (value) => textOf(value) ?? fallback };
}

export function requiredText(flags: string, help: string): DeclaredOption<string> {
  return { option: new Option(flags, help).makeOptionMandatory(), read: (value) => textOf(value) ?? "" };
}

/** An option that the user may repeat; its values keep their order. */
export function list(flags: string, help: string): DeclaredOption<readonly string[]> {
  const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
  return {
    option: new Option(flags, help).argParser(collect),
    read: (value) => (Array.isArray(value) ? value.filter((each) => typeof each === "string") : []),
  };
}

/** One of a few words; commander refuses every other. */
export function choice<const T extends string>(
  flags: string,
  help: string,
  choices: readonly T[],
): DeclaredOption<T | undefined> {
  return {
    option: new Option(flags, help).choices(choices),
    read: (value) => choices.find((each) => each === value),
  };
}

export function choiceOr<const T extends string>(
  flags: string,
  help: string,
  choices: readonly [fallback: T, ...T[]],
): DeclaredOption<T> {
  const { option, read } = choice(flags, help, choices);
  return { option: option.default(choices[0]), read: (value) => read(value) ?? choices[0] };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
