/**
 * Whether no object in a JSON text has two members of the same name. Of two, one reader takes the
 * first and another the last, so that they would act for different tenants.
 */
export function hasUniqueNames(json: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (const [token, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{") {
      open.push(new Set());
    } else if (token === "[") {
      open.push(undefined);
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) return false;
      names?.add(name);
    }
  }
  return true;
}
