import { existsSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { docs } from "./pages.js";

const root = dirname(docs);

/**
 * Makes links between files of the repository links of the site: README.md is a folder's index, and what lies outside of
 * docs/ is a file of the source, or plain text where nobody said where the source is. A file that is not there ends the
 * build.
 */
export function linksOfSite(md, source) {
  md.core.ruler.push("links_of_site", (state) => {
    for (const block of state.tokens) {
      let isDropped = false;
      for (const token of block.children ?? []) {
        if (token.type === "link_open") {
          const to = target(token.attrGet("href"), state.env.relativePath, source);
          isDropped = to === null;
          if (isDropped) token.hidden = true;
          else token.attrSet("href", to);
        }
        if (token.type === "link_close") token.hidden = isDropped;
        if (token.hidden) token.type = "text";
        // Two braces are an expression of Vue elsewhere.
        if (token.type === "code_inline") token.attrSet("v-pre", "");
      }
    }
  });
}

function target(href, page, source) {
  if (/^[a-z]+:|^#|^\//.test(href)) return href;
  const [path, anchor] = href.split("#");
  const file = join(docs, dirname(originOf(page)), decodeURI(path));
  if (!existsSync(file)) {
    throw new Error(`docs/${originOf(page)}: there is no ${relative(root, file)}`);
  }
  const within = relative(docs, file).replaceAll("\\", "/");
  const mark = anchor === undefined ? "" : `#${anchor}`;
  if (within.startsWith("..")) {
    return source === "" ? null : posix.join(source, relative(root, file)) + mark;
  }
  if (within.endsWith(".md")) {
    return "/" + within.replace(/README\.md$/, "index.md") + mark;
  }
  return href;
}

/** VitePress names a page after its rewriting. */
function originOf(page) {
  return page.replace(/index\.md$/, "README.md");
}
