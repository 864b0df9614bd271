/** The looks that a host may set. Each value becomes part of a style, so it is checked. */
export interface Theme {
  scheme?: unknown;
  accent?: unknown;
  font?: unknown;
  radius?: unknown;
  density?: unknown;
}

const backgrounds = { light: "#ffffff", dark: "#12171b" };

/** The theme's custom properties. Invalid values are left out. */
export function propertiesOf(theme: Theme): Record<string, string> {
  const properties: Record<string, string> = {};
  const accent = colourOf(theme.accent);
  if (accent) {
    const [light, dark] = [readable(accent, backgrounds.light), readable(accent, backgrounds.dark)];
    properties["--accent"] = `light-dark(${light}, ${dark})`;
    properties["--focus"] = properties["--accent"];
    properties["--series-1"] = properties["--accent"];
    properties["--bg-active"] = "color-mix(in srgb, var(--accent) 14%, var(--bg))";
    properties["--accent-text"] = `light-dark(${textOn(light)}, ${textOn(dark)})`;
  }
  const font = fontOf(theme.font);
  if (font) properties["--sans"] = font;
  const radius = Number(theme.radius);
  if (theme.radius !== undefined && theme.radius !== "" && radius >= 0 && radius <= 16) {
    properties["--radius"] = `${radius}px`;
  }
  return properties;
}

/** `#rgb` or `#rrggbb`. */
function colourOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const [, short, long] = /^#(?:([\da-f]{3})|([\da-f]{6}))$/i.exec(value.trim()) ?? [];
  if (short) return `#${[...short].map((one) => one + one).join("")}`.toLowerCase();
  return long ? `#${long.toLowerCase()}` : null;
}

/** Font families whose names have only letters, digits, spaces and hyphens, quoted. */
function fontOf(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 200) return null;
  const names = value.split(",").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"));
  if (!names.every((name) => /^[\p{L}\d][\p{L}\d -]*$/u.test(name))) return null;
  const generic = /^(serif|sans-serif|monospace|system-ui|ui-sans-serif|ui-serif|ui-rounded)$/;
  return [...names.map((name) => generic.test(name) ? name : `"${name}"`), "sans-serif"].join(", ");
}

/** The colour, made just dark or light enough to be readable on the background. */
function readable(colour: string, background: string): string {
  const end = luminance(background) > 0.5 ? 0 : 255;
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = mix(colour, end, share);
    if (contrast(mixed, background) >= 4.8) return mixed;
  }
  return mix(colour, end, 1);
}

function textOn(colour: string): string {
  return contrast(colour, "#ffffff") >= 4.5 ? "#ffffff" : "#06201d";
}

const channels = (colour: string): number[] =>
  [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function mix(colour: string, end: number, share: number): string {
  const mixed = channels(colour).map((one) => Math.round(one + (end - one) * share));
  return `#${mixed.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}

/** Luminance as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
