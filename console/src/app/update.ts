/** Set for the load after one that `loadPart` asked for. */
const mark = "logloom-updated";

/**
 * Loads a part of the page that is fetched when it is needed. A page that stays open while a newer deployment comes
 * asks for a file that is gone: then the whole page is loaded anew, where it was. Once, since after that it is the
 * newest; and only where there is a newer one, since a network that is away would leave nothing.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(await isOutdated())) throw error;
    sessionStorage.setItem(mark, "1");
    location.reload();
    // Nothing more happens on this page.
    return new Promise(() => {});
  }
}

/** Whether the page that is served now begins with other files than this one did. */
async function isOutdated(): Promise<boolean> {
  const entry = document.querySelector<HTMLScriptElement>("script[type=module][src]");
  const page = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (!entry || !page?.ok) return false;
  return !(await page.text()).includes(`"${entry.getAttribute("src")}"`);
}

/** Whether this load of the page is one that `loadPart` asked for; told once. */
export function wasUpdated(): boolean {
  const was = sessionStorage.getItem(mark) !== null;
  sessionStorage.removeItem(mark);
  return was;
}
