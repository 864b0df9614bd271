import { checkout } from "../stack.ts";
import { rooms, schemaFiles } from "./schemas.ts";

/** The page with the picture of rooms, between two markers. */
export const pictureFile = `${checkout}/docs/background/architecture.md`;
const marks = ["<!-- rooms: npm run migration draws this -->", "<!-- rooms -->"];

/** A file of one room uses something that another room defines. */
export interface Use {
  room: string;
  file: string;
  usedRoom: string;
  /** The function, table or type, with its schema. */
  name: string;
}

const definition =
  /^\s*create (?:or replace )?(?:function|procedure|(?:unlogged )?table|type|domain|view|sequence)(?: if not exists)? ((?:public|logloom|logloom_private)\.\w+)/gm;

/** Finds all uses between rooms in the text of the schemas, dynamic SQL included. */
export async function uses(): Promise<Use[]> {
  const sources = await Promise.all((await schemaFiles()).map(async (path) => ({
    path,
    text: await Deno.readTextFile(`${checkout}/${path}`),
  })));
  return usesIn(sources);
}

export function usesIn(files: { path: string; text: string }[]): Use[] {
  const sources = files.map(({ path, text }) => ({ path, text: codeOf(text) }));
  const homes = new Map<string, string>();
  for (const { path, text } of sources) {
    for (const [, name] of text.matchAll(definition)) {
      if (!homes.has(name)) homes.set(name, roomOf(path));
    }
  }
  const found = new Map<string, Use>();
  for (const { path, text } of sources) {
    const room = roomOf(path);
    for (const [name] of text.matchAll(/\b(?:public|logloom|logloom_private)\.\w+/g)) {
      const usedRoom = homes.get(name);
      if (usedRoom === undefined || usedRoom === room) continue;
      found.set(`${path} ${name}`, { room, file: path, usedRoom, name });
    }
  }
  return [...found.values()];
}

function roomOf(path: string): string {
  return path.split("/")[2];
}

/** Returns the text without comments and `comment on`. */
function codeOf(text: string): string {
  return text
    .replace(/--[^\n]*/g, "")
    .replace(/^\s*comment on [^;']*?\bis\s+(?:'(?:[^']|'')*'\s*)+;/gm, "");
}

/** Describes each use of a later room in a sentence. */
export function upwardArrows(found: Use[], order: string[]): string[] {
  return found
    .filter(({ room, usedRoom }) => order.indexOf(usedRoom) > order.indexOf(room))
    .map(({ file, name, usedRoom }) => `${file} uses ${name} of ${usedRoom}, a later room`);
}

/** Draws the uses as a Mermaid graph, without indirect arrows. */
export function picture(found: Use[], order: string[]): string {
  const direct = new Map(order.map((room) => [room, new Set<string>()]));
  for (const { room, usedRoom } of found) {
    if (order.indexOf(usedRoom) < order.indexOf(room)) direct.get(room)?.add(usedRoom);
  }
  const lines = order.flatMap((room) => {
    const used = direct.get(room) ?? new Set();
    const indirect = new Set([...used].flatMap((other) => [...reachable(other, direct)]));
    return order.filter((other) => used.has(other) && !indirect.has(other))
      .map((other) => `  ${room} --> ${other}`);
  });
  return ["```mermaid", "graph TD", ...lines, "```"].join("\n");
}

function reachable(room: string, direct: Map<string, Set<string>>): Set<string> {
  const found = new Set<string>();
  const visit = (from: string) => {
    for (const next of direct.get(from) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(room);
  return found;
}

/** Returns the page with the current picture. */
export async function pageWithPicture(): Promise<string> {
  const page = await Deno.readTextFile(pictureFile);
  const start = page.indexOf(marks[0]) + marks[0].length;
  const end = page.indexOf(marks[1], start);
  if (start < marks[0].length || end < 0) throw new Error(`${pictureFile} has lost its marks`);
  const drawn = picture(await uses(), await rooms());
  return `${page.slice(0, start)}\n\n${drawn}\n\n${page.slice(end)}`;
}
