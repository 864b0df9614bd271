import { defineConfig } from "vitepress";
import { pages, sidebar } from "../pages.js";
import { linksOfSite } from "../links.js";
import { writeForModels } from "../llms.js";

const base = process.env.LOGLOOM_SITE_BASE ?? "/";
const source = process.env.LOGLOOM_SITE_SOURCE ?? "";

export default defineConfig({
  title: "Logloom",
  description: "Multi-tenant logs inside your Supabase project",
  base,
  srcDir: ".pages",
  outDir: process.env.LOGLOOM_SITE_OUT,
  cacheDir: process.env.LOGLOOM_SITE_CACHE,
  rewrites: Object.fromEntries(
    pages.map((page) => [page, page.replace(/README\.md$/, "index.md")]),
  ),
  markdown: {
    // As on GitHub, where the same pages are read.
    anchor: {
      slugify: (text) =>
        text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-"),
    },
    config: (md) => linksOfSite(md, source),
  },
  themeConfig: {
    search: { provider: "local" },
    sidebar: sidebar(),
    outline: { level: [2, 3] },
  },
  buildEnd: ({ outDir }) => writeForModels(outDir, base, sidebar()),
});
