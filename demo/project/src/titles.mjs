/** The first letter in upper case. */
export function capitalize(title) {
  return title.charAt(0).toUpperCase() + title.slice(1);
}
