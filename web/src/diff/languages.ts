// Facts about common languages for syntax colours: keywords, quotes, and comment marks.

export type Language = {
  readonly keywords: ReadonlySet<string>;
  /** Marks of comments that end with the line. */
  readonly comments: readonly string[];
  /** The marks around a block comment. */
  readonly block: readonly [begin: string, end: string] | null;
  readonly quotes: string;
};

const C =
  "break case const continue default do else enum extern false for if return sizeof static struct switch true typedef union void while int char long short unsigned signed double float bool null nullptr inline";
const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const braces = (keywords: string, quotes = "\"'"): Language => ({
  keywords: words(keywords),
  comments: ["//"],
  block: ["/*", "*/"],
  quotes,
});
const hashes = (keywords: string, quotes = "\"'"): Language => ({
  keywords: words(keywords),
  comments: ["#"],
  block: null,
  quotes,
});

const SCRIPT = braces(
  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
  "\"'`",
);
const CPP = braces(
  `${C} auto class constexpr delete explicit friend namespace new noexcept operator override private protected public template this throw try catch typename using virtual`,
);
const JVM = braces(
  "abstract as break case catch class companion const continue data default do else enum extends false final finally for fun if implements import in instanceof interface internal is long int new null object open override package private protected public return sealed static super switch this throw throws true try val var void when while",
);
const PYTHON = hashes(
  "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield",
);
const SHELL = hashes(
  "case do done elif else esac export fi for function if in local readonly return set shift then unset until while",
);
const DATA = hashes("true false null yes no on off");
const SQL: Language = {
  keywords: words(
    "select from where insert into update delete create table index alter drop join left right inner outer on and or not null primary key references values set order by group having limit as SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE INDEX ALTER DROP JOIN LEFT RIGHT INNER OUTER ON AND OR NOT NULL PRIMARY KEY REFERENCES VALUES SET ORDER BY GROUP HAVING LIMIT AS",
  ),
  comments: ["--"],
  block: ["/*", "*/"],
  quotes: "\"'",
};
const MARKUP: Language = { keywords: new Set(), comments: [], block: ["<!--", "-->"], quotes: '"' };

const LANGUAGES: Readonly<Record<string, Language>> = {
  ...named(SCRIPT, "ts tsx mts cts js jsx mjs cjs vue svelte"),
  ...named(CPP, "cc cpp cxx hpp hh"),
  ...named(JVM, "java kt kts scala groovy"),
  ...named(PYTHON, "py pyi"),
  ...named(SHELL, "sh bash zsh fish"),
  ...named(DATA, "yaml yml toml ini conf env"),
  ...named(SQL, "sql"),
  ...named(MARKUP, "html htm xml svg"),
  ...named(braces(C), "c h"),
  ...named(
    braces(
      "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
      "\"'`",
    ),
    "go",
  ),
  ...named(
    braces(
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
      '"',
    ),
    "rs",
  ),
  ...named(
    braces(
      "abstract as async await base bool break case catch class const continue default do else enum false finally for foreach if in interface internal is namespace new null out override private protected public readonly record ref return sealed static string struct switch this throw true try using var virtual void when while yield",
    ),
    "cs",
  ),
  ...named(
    braces(
      "as break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is let nil private protocol public return self static struct super switch throw throws true try var where while",
      '"',
    ),
    "swift",
  ),
  ...named(
    hashes(
      "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield",
    ),
    "rb",
  ),
  ...named(
    braces(
      "abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements interface match namespace new null or private protected public readonly return static switch throw trait true try use var while yield",
    ),
    "php",
  ),
  ...named({ keywords: words("true false null"), comments: [], block: null, quotes: '"' }, "json jsonc"),
  ...named({ keywords: new Set(), comments: [], block: ["/*", "*/"], quotes: "\"'" }, "css scss less"),
};

function named(language: Language, endings: string): Readonly<Record<string, Language>> {
  return Object.fromEntries(endings.split(" ").map((ending) => [ending, language]));
}

/** By the file's name alone; undefined if unknown. */
export function languageOf(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "Dockerfile" || name === "Makefile") return SHELL;
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending] : undefined;
}
