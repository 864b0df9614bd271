import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { project } from "./project.ts";

// Tests of the viewer that need no browser. The others are in viewer_browser_test.ts and portal_test.ts.

const element = `${project}/node_modules/logloom/dist/viewer.js`;

Deno.test("the element is 3 KB at most and can be imported outside a browser", async () => {
  const size = gzipSync(await Deno.readFile(element), { level: 9 }).length;
  console.log(`element: ${size} bytes gzipped`);
  assert.ok(size <= 3000, `${size}`);
  await import(`file://${element}`);
});

Deno.test("React renders the element, also on a server, without a token or a style attribute", async () => {
  const file = `${project}/react.mjs`;
  await Deno.writeTextFile(
    file,
    `import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { LogloomViewer } from "logloom/viewer/react";
const props = {
  src: "https://a.example/portal.html",
  getToken: () => "secret",
  range: "24h",
  className: "logs",
  style: { "--logloom-accent": "#c026d3" },
};
console.log(renderToString(createElement(LogloomViewer, props)));`,
  );
  const { stdout } = await new Deno.Command("node", { args: ["--preserve-symlinks", file] })
    .output();
  assert.equal(
    new TextDecoder().decode(stdout).trim(),
    '<logloom-viewer src="https://a.example/portal.html" range="24h" class="logs"></logloom-viewer>',
  );
});
