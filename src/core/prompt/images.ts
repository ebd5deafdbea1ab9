// The images of a ticket, as the prompt names them.

import { oneLine } from "./quote.ts";

/** `path`: where the agent can read it; null if it is missing, too large or no image. */
export type TicketImage = { readonly link: string; readonly path: string | null };

/** Empty without an image. */
export function imagesText(images: readonly TicketImage[]): string {
  if (images.length === 0) return "";
  const lines = images.map(({ link, path }) => {
    const name = oneLine(JSON.stringify(link));
    return path === null ? `- ${name}: not readable` : `- ${name}: ${path}`;
  });
  return ["## Images of the ticket", "Open those that matter with your tool for reading files.", ...lines].join("\n");
}
