import { exists } from "./files.ts";
import { checkout } from "./stack.ts";

/** Returns the files below folders of the checkout, as sorted paths from its root. */
export async function walk(folders: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    if (!(await exists(`${checkout}/${folder}`))) continue;
    for await (const entry of Deno.readDir(`${checkout}/${folder}`)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory && entry.name !== "node_modules") found.push(...await walk([path]));
      else if (entry.isFile) found.push(path);
    }
  }
  return found.sort();
}
