/** Files that the page makes: written down where the browser puts downloads. */

export function save(name: string, text: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers read it only after the click has been dealt with.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name that is good on every system: "compass-1dc0324a.sh". */
export function fileName(id: string, ending: string, part = ""): string {
  const safe = id.replace(/[^\w-]/g, "").slice(0, 8);
  return `compass-${safe}${part ? `-${part}` : ""}.${ending}`;
}
