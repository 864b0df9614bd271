/**
 * Whether no object in a JSON text has two members of one name. Some JSON readers take the first and others the last,
 * so they could act for different tenants.
 */
export function hasUniqueNames(json: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < json.length; at++) {
    const letter = json[at];
    if (letter === "{") {
      open.push(new Set());
    } else if (letter === "[") {
      open.push(undefined);
    } else if (letter === "}" || letter === "]") {
      open.pop();
    } else if (letter === '"') {
      const end = endOfString(json, at);
      if (isFollowedByColon(json, end)) {
        const name: string = JSON.parse(json.slice(at, end));
        const names = open.at(-1);
        if (names?.has(name)) return false;
        names?.add(name);
      }
      at = end - 1;
    }
  }
  return true;
}

/** The position after the closing quote of the string that begins here. */
function endOfString(json: string, begin: number): number {
  let at = begin + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

function isFollowedByColon(json: string, from: number): boolean {
  let at = from;
  while (at < json.length && json[at] <= " ") at++;
  return json[at] === ":";
}
