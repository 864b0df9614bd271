/** Marks a reload by `loadPart`. */
const mark = "logloom-updated";

/**
 * Loads a part of the page on demand. After a deployment its file may be gone: then the page reloads itself, once. It
 * does so only if a newer version is online, because without a network a reload would leave nothing.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(await isOutdated())) throw error;
    sessionStorage.setItem(mark, "1");
    location.reload();
    // The page reloads: never resolve.
    return new Promise(() => {});
  }
}

/** Whether the server now has a newer version of the page. */
async function isOutdated(): Promise<boolean> {
  const entry = document.querySelector<HTMLScriptElement>("script[type=module][src]");
  const page = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (!entry || !page?.ok) return false;
  return !(await page.text()).includes(`"${entry.getAttribute("src")}"`);
}

/** Whether `loadPart` reloaded the page. True once. */
export function wasUpdated(): boolean {
  const was = sessionStorage.getItem(mark) !== null;
  sessionStorage.removeItem(mark);
  return was;
}
