/**
 * Where an answer leads instead of answering, in words; undefined where it does not. A redirect is not followed: the key
 * would go along.
 */
export function redirectOf({ status, type, headers }: Response): string | undefined {
  // A browser does not say where to, nor with which status.
  if (type !== "opaqueredirect" && (status < 300 || status >= 400)) return undefined;
  const place = headers.get("Location");
  return `the address answers with a redirect${place ? ` to ${place}` : ""}: name that one`;
}
