/** Under which name a tab keeps the kind of question to begin with: picked at home, then asked. */
export const FIRST_KIND = "compass.kind";
