import {
  acceptCompletion,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  selectedCompletion,
} from "@codemirror/autocomplete";
import {
  deleteCharBackward,
  deleteCharForward,
  deleteGroupBackward,
  deleteGroupForward,
  selectAll,
} from "@codemirror/commands";
import type { EditorView, KeyBinding } from "@codemirror/view";

export function replaceAll(editor: EditorView, text: string): void {
  if (editor.state.doc.toString() === text) return;
  closeCompletion(editor);
  editor.dispatch({
    changes: { from: 0, to: editor.state.doc.length, insert: text },
    selection: { anchor: text.length },
  });
}

/** Keys that delete text. The browser itself moves the cursor. */
export const deletions: KeyBinding[] = [
  { key: "Mod-a", run: selectAll },
  { key: "Backspace", run: deleteCharBackward, shift: deleteCharBackward },
  { key: "Delete", run: deleteCharForward },
  { key: "Mod-Backspace", mac: "Alt-Backspace", run: deleteGroupBackward },
  { key: "Mod-Delete", mac: "Alt-Delete", run: deleteGroupForward },
];

/**
 * Replaces selected text when somebody types. The browser would add a style attribute to keep the old text's look, which
 * the page's policy forbids.
 */
export function replaceSelected(event: InputEvent, editor: EditorView): boolean {
  const isTyped = event.inputType === "insertText" && event.data !== null && !event.isComposing;
  if (!isTyped || editor.state.selection.main.empty) return false;
  event.preventDefault();
  editor.dispatch(editor.state.replaceSelection(event.data ?? ""), {
    userEvent: "input.type",
    scrollIntoView: true,
  });
  return true;
}

/** The editor's state when a key is pressed. */
interface Latest {
  earlier: string[];
  onChange: (text: string) => void;
  onRun: (text: string) => void;
  place: number;
}

/** Enter runs the query, Ctrl+Enter adds a line. In a box with one line the arrows show earlier queries. */
export function ownKeys(latest: Latest): KeyBinding[] {
  const step = (by: number) => (editor: EditorView) => {
    if (completionStatus(editor.state) === "active" || editor.state.doc.lines > 1) return false;
    const next = latest.place + by;
    if (next < -1 || next >= latest.earlier.length) return false;
    const isFresh = latest.place === -1 && editor.state.doc.length > 0;
    if (isFresh && latest.earlier[0] !== editor.state.doc.toString()) return false;
    latest.place = isFresh && by > 0 ? next + 1 : next;
    replaceAll(editor, latest.earlier[latest.place] ?? "");
    return true;
  };
  const addLine = (editor: EditorView) => {
    editor.dispatch(editor.state.replaceSelection("\n"), { scrollIntoView: true });
    return true;
  };
  return [
    {
      key: "Enter",
      run: (editor: EditorView) => {
        if (selectedCompletion(editor.state)) return false;
        closeCompletion(editor);
        latest.onRun(editor.state.doc.toString());
        return true;
      },
    },
    { key: "Tab", run: acceptOrLeave },
    { key: "Ctrl-Enter", run: addLine },
    { key: "Mod-Enter", run: addLine },
    { key: "Shift-Enter", run: addLine },
    { key: "ArrowUp", run: step(1) },
    { key: "ArrowDown", run: step(-1) },
    { key: "Escape", run: closeList },
  ];
}

/** Escape closes an open list, and otherwise does nothing. */
function closeList(editor: EditorView): boolean {
  closeCompletion(editor);
  return true;
}

/** Tab takes the first entry of an open list, otherwise it leaves the box as usual. */
function acceptOrLeave(editor: EditorView): boolean {
  if (completionStatus(editor.state) !== "active") return false;
  if (!selectedCompletion(editor.state)) moveCompletionSelection(true)(editor);
  return acceptCompletion(editor);
}
