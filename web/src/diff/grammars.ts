// The grammar of a file by its name. Each is a file of its own, loaded when the first file in its language is shown.

import type { LanguageRegistration } from "@shikijs/primitive";

type Grammar = () => Promise<{ readonly default: readonly LanguageRegistration[] }>;

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  ...named("ts mts cts", () => import("@shikijs/langs/typescript")),
  ...named("tsx jsx", () => import("@shikijs/langs/tsx")),
  ...named("js mjs cjs", () => import("@shikijs/langs/javascript")),
  ...named("json jsonc json5", () => import("@shikijs/langs/jsonc")),
  ...named("md markdown mdx", () => import("@shikijs/langs/markdown")),
  ...named("css less", () => import("@shikijs/langs/css")),
  ...named("scss", () => import("@shikijs/langs/scss")),
  ...named("html htm", () => import("@shikijs/langs/html")),
  ...named("vue", () => import("@shikijs/langs/vue")),
  ...named("svelte", () => import("@shikijs/langs/svelte")),
  ...named("xml svg", () => import("@shikijs/langs/xml")),
  ...named("py pyi", () => import("@shikijs/langs/python")),
  ...named("go", () => import("@shikijs/langs/go")),
  ...named("rs", () => import("@shikijs/langs/rust")),
  ...named("java", () => import("@shikijs/langs/java")),
  ...named("kt kts", () => import("@shikijs/langs/kotlin")),
  ...named("scala", () => import("@shikijs/langs/scala")),
  ...named("swift", () => import("@shikijs/langs/swift")),
  ...named("c h", () => import("@shikijs/langs/c")),
  ...named("cc cpp cxx hpp hh", () => import("@shikijs/langs/cpp")),
  ...named("cs", () => import("@shikijs/langs/csharp")),
  ...named("rb", () => import("@shikijs/langs/ruby")),
  ...named("php", () => import("@shikijs/langs/php")),
  ...named("sh bash zsh", () => import("@shikijs/langs/shellscript")),
  ...named("fish", () => import("@shikijs/langs/fish")),
  ...named("yaml yml", () => import("@shikijs/langs/yaml")),
  ...named("toml", () => import("@shikijs/langs/toml")),
  ...named("ini conf env", () => import("@shikijs/langs/ini")),
  ...named("sql", () => import("@shikijs/langs/sql")),
  ...named("lua", () => import("@shikijs/langs/lua")),
  ...named("ex exs", () => import("@shikijs/langs/elixir")),
  ...named("dart", () => import("@shikijs/langs/dart")),
  ...named("tf hcl", () => import("@shikijs/langs/hcl")),
  ...named("graphql gql", () => import("@shikijs/langs/graphql")),
  ...named("proto", () => import("@shikijs/langs/proto")),
  ...named("dockerfile containerfile", () => import("@shikijs/langs/docker")),
  ...named("makefile mk", () => import("@shikijs/langs/make")),
};

function named(endings: string, grammar: Grammar): Readonly<Record<string, Grammar>> {
  return Object.fromEntries(endings.split(" ").map((ending) => [ending, grammar]));
}

/** Undefined if its language is not known: the file has no colours. */
export function grammarOf(path: string): Grammar | undefined {
  const ending = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(".")) + 1).toLowerCase();
  return Object.hasOwn(GRAMMARS, ending) ? GRAMMARS[ending] : undefined;
}
