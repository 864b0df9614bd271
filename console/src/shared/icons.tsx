/** Icons beside words: 16 × 16, in the colour of the text. */
const paths = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5 14 14",
  play: "M5 3.2v9.6L12.5 8 5 3.2Z",
  pause: "M5.5 3v10M10.5 3v10",
  refresh: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  move: "M6 3.5h.01M10 3.5h.01M6 8h.01M10 8h.01M6 12.5h.01M10 12.5h.01",
  edit: "M3 13l.6-2.6L10.8 3.2a1.2 1.2 0 0 1 1.7 0l.3.3a1.2 1.2 0 0 1 0 1.7L5.6 12.4 3 13Z",
  chevron: "m6 4 4 4-4 4",
  down: "m4 6 4 4 4-4",
  close: "m4 4 8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM3 10V3h7",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  check: "m3.5 8.5 3 3 6-7",
  columns: "M3 3h10v10H3zM7 3v10",
  fields: "M3 4h10M3 8h7M3 12h9",
  wrap: "M3 4h10M3 8h8.5a2 2 0 0 1 0 4H8m0 0 1.5-1.5M8 12l1.5 1.5",
  rows: "M3 3.5h10M3 6.5h10M3 9.5h10M3 12.5h10",
  bell: "M4 11V7.5a4 4 0 0 1 8 0V11l1 1.5H3L4 11ZM6.8 14h2.4",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.2l2 1.3",
  star: "m8 2.5 1.7 3.5 3.8.5-2.8 2.6.7 3.8L8 11.1l-3.4 1.8.7-3.8-2.8-2.6 3.8-.5L8 2.5Z",
  chart: "M3 13V8M6.5 13V4M10 13V6.5M13.5 13V9.5",
  table: "M2.5 3.5h11v9h-11zM2.5 6.5h11M6 6.5v6",
  download: "M8 2.5v7m0 0L5 6.8M8 9.5l3-2.7M3 13h10",
  help:
    "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM6.5 6.5a1.5 1.5 0 1 1 2.1 1.4c-.4.2-.6.5-.6 1M8 11h.01",
  group: "M3 4h10M5 8h6M7 12h2",
  context: "M3 3.5h7M3 8h10M3 12.5h7",
  user: "M8 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM3.5 13.5c.4-2.4 2.1-3.7 4.5-3.7s4.1 1.3 4.5 3.7",
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** The same mark as in the pages' `link rel="icon"`. */
export function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <rect width="16" height="16" rx="3.5" fill="#0f766e" />
      <path d="M4 4.5h8M4 8h5.5M4 11.5h7" stroke="#fff" strokeWidth="1.6" strokeLinecap="round" />
    </svg>
  );
}
