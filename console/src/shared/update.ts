/** Set for the load that `loadPart` asked for. */
const mark = "logloom-updated";

/**
 * Loads a part of the page on demand. After a newer deployment its file may be gone: then the whole page reloads in the
 * same place. Once only, because afterwards it is the newest; and only if there is a newer one, because without a
 * network a reload would leave nothing.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(await isOutdated())) throw error;
    sessionStorage.setItem(mark, "1");
    location.reload();
    // Nothing else happens on this page.
    return new Promise(() => {});
  }
}

/** Whether the served page now uses other files than this one. */
async function isOutdated(): Promise<boolean> {
  const entry = document.querySelector<HTMLScriptElement>("script[type=module][src]");
  const page = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (!entry || !page?.ok) return false;
  return !(await page.text()).includes(`"${entry.getAttribute("src")}"`);
}

/** Whether `loadPart` asked for this load; true once. */
export function wasUpdated(): boolean {
  const was = sessionStorage.getItem(mark) !== null;
  sessionStorage.removeItem(mark);
  return was;
}
