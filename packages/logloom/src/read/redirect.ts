/**
 * Returns where a redirect leads, in words; undefined if the answer is not a redirect. Redirects are not followed,
 * because the key would be sent along.
 */
export function redirectOf({ status, type, headers }: Response): string | undefined {
  // Browsers hide the target and the status.
  if (type !== "opaqueredirect" && (status < 300 || status >= 400)) return undefined;
  const place = headers.get("Location");
  return `the address answers with a redirect${place ? ` to ${place}` : ""}: name that one`;
}
