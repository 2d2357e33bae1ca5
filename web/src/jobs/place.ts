/** Where on the page tables of accounting are brought. */
export const PLACE = "jobs";
