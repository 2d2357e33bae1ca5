/** Putting a text on the clipboard. Whether it worked. */
export async function copy(text: string): Promise<boolean> {
  try {
    // Over plain HTTP from another host, browsers have no clipboard to give.
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // not allowed: the old way may be
  }
  return copySelected(text);
}

/** The old way: what is selected in a field is copied, as if by hand. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true; // no keyboard comes up on a phone
  field.style.position = "fixed"; // nothing scrolls to it
  field.style.opacity = "0";
  document.body.append(field);
  try {
    field.select();
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}
