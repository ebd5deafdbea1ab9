// The images that a ticket's text shows: Markdown links to files beside the ticket. Addresses of the web and absolute paths are no such files.

const LINK = /!\[[^\]\n]{0,500}\]\(\s*<?([^)<>\s]{1,500})>?(?:\s+"[^"\n]{0,500}")?\s*\)/gu;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/iu;
/** An agent looks at a few. */
const MOST_IMAGES = 8;

/** Relative paths as the text writes them, each once. None leaves the folder of the ticket. */
export function imageLinks(text: string): readonly string[] {
  const links = [...text.matchAll(LINK)].flatMap(([, link]) => (link === undefined ? [] : [decoded(link)]));
  return [...new Set(links)].filter(isBeside).slice(0, MOST_IMAGES);
}

function isBeside(link: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:/iu.test(link) || /^[/~]/u.test(link) || /[\\\p{Cc}]/u.test(link)) return false;
  return IMAGE.test(link) && !link.split("/").includes("..");
}

function decoded(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}
