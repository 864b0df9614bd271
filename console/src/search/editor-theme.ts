import { EditorView } from "@codemirror/view";

/** The editor follows the page's theme: custom properties apply inside its shadow root. */
export const editorTheme = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", maxHeight: "124px" },
  ".cm-content": { padding: "5px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0" },
  ".cm-placeholder": { color: "var(--text-muted)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-tooltip": {
    zIndex: "20",
    border: "1px solid var(--line)",
    borderRadius: "7px",
    backgroundColor: "var(--bg)",
    color: "var(--text)",
    boxShadow: "0 8px 28px rgb(0 0 0 / 0.18)",
    overflow: "hidden",
    fontFamily: "var(--sans)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mono)",
    fontSize: "12px",
    maxHeight: "260px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--bg-active)",
    color: "var(--text)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent)" },
  ".cm-completionDetail": {
    marginLeft: "14px",
    color: "var(--text-muted)",
    fontFamily: "var(--sans)",
    fontStyle: "normal",
  },
  ".cm-diagnostic": { padding: "6px 10px", maxWidth: "440px", fontSize: "12px" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--level-error)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--level-warn)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--text-error)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--text-warn)",
    textUnderlineOffset: "3px",
  },
});
