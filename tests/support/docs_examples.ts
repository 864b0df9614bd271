import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";

export interface Example {
  operation: string;
  request: unknown;
  response: unknown;
}

/** Returns the examples of docs/reference/api, in the order of the API's first page. */
export async function examples(): Promise<Example[]> {
  const folder = `${checkout}/docs/reference/api`;
  const index = await Deno.readTextFile(`${folder}/README.md`);
  const pages = [...index.matchAll(/^\| \[[\w ]+\]\(([\w-]+\.md)\)/gm)].map(([, page]) => page);
  const texts = await Promise.all(pages.map((page) => Deno.readTextFile(`${folder}/${page}`)));
  const all = texts.flatMap((text) => text.split(/^## (?=`)/m).slice(1)).map((section) => {
    const operation = /^`(\w+)`/.exec(section)?.[1];
    const part = (name: string) =>
      new RegExp(`^\`\`\`json ${name}\n([\\s\\S]*?)^\`\`\``, "m").exec(section)?.[1];
    const [request, response] = [part("request"), part("response")];
    assert.ok(operation && request && response, `no example: ${section.slice(0, 60)}`);
    return { operation, request: JSON.parse(request), response: JSON.parse(response) };
  });
  // The examples of notifications need the rule.
  const isLast = ({ operation }: Example) => operation === "delete_alert_rule";
  return [...all.filter((one) => !isLast(one)), ...all.filter(isLast)];
}
